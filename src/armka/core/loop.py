"""The one shape of a background loop: a whole cycle, repeated, woken, supervised.

A cycle is callable alone (tests do); everything it needs to know it reads afresh, so a loop
recovers by running again. A cycle returns how many seconds may pass before the next one must run; 0
means that more work is waiting.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable

import structlog

from armka.core.database.pool import is_unavailable, is_unmigrated
from armka.messaging.connection import NotConfirmed, NotConnected
from armka.objects.store import StoreUnavailable

log = structlog.get_logger(__name__)

_BACKOFF_SECONDS = (0.2, 0.5, 1.0, 2.0, 5.0)

Cycle = Callable[[], Awaitable[float]]


class Loop:
    """Runs `cycle` until stopped; outages of the servers and unforeseen errors delay the next
    cycle, no more.
    """

    def __init__(self, name: str, cycle: Cycle) -> None:
        self.name = name
        self._cycle = cycle
        self._wake = asyncio.Event()
        self._stopping = False
        self._failures = 0
        self._began: float | None = None
        self._ended = time.monotonic()

    @property
    def seconds_in_cycle(self) -> float:
        """How long the cycle that runs has run; 0 between cycles."""
        return 0.0 if self._began is None else time.monotonic() - self._began

    @property
    def seconds_since_cycle(self) -> float:
        """How long ago the last cycle ended, well or not."""
        return time.monotonic() - self._ended

    @property
    def state(self) -> str:
        """How the last cycle ended, in a word."""
        return "ok" if self._failures == 0 else "failing"

    def wake(self) -> None:
        """Run the next cycle now."""
        self._wake.set()

    def stop(self) -> None:
        """Run no further cycle; the one that runs ends first."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Repeat the cycle until `stop`."""
        while not self._stopping:
            self._wake.clear()
            pause = await self._run_cycle()
            if pause <= 0:
                await asyncio.sleep(0)
            elif not self._stopping:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), pause)

    async def _run_cycle(self) -> float:
        self._began = time.monotonic()
        try:
            pause = await self._cycle()
        except Exception as error:  # noqa: BLE001 - a loop outlives whatever its cycle meets
            return self._failed(error)
        finally:
            self._began, self._ended = None, time.monotonic()
        self._failures = 0
        return pause

    def _failed(self, error: Exception) -> float:
        pause = _BACKOFF_SECONDS[min(self._failures, len(_BACKOFF_SECONDS) - 1)]
        self._failures += 1
        if is_unavailable(error) or isinstance(
            error, NotConnected | NotConfirmed | StoreUnavailable
        ):
            log.warning(
                "loop is waiting for a server",
                loop=self.name,
                error=_describe(error),
                seconds=pause,
            )
        elif is_unmigrated(error):
            log.error(
                "the database lacks this version's tables: run `armka migrate`",
                loop=self.name,
                error=_describe(error),
            )
        else:
            log.error("loop failed, it will go on", loop=self.name, seconds=pause, exc_info=error)
        return pause


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
