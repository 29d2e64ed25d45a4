"""SIGTERM and SIGINT as an event."""

import asyncio
import signal


def stop_event() -> asyncio.Event:
    """An event that the first SIGTERM or SIGINT sets; call inside the running loop."""
    event, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, event.set)
    return event
