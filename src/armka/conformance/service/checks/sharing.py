"""Many requests, and many instances (C4.7)."""

import time
from contextlib import ExitStack

from armka.conformance.service.asked import Asked
from armka.conformance.service.check import check
from armka.conformance.service.proxy import Kind
from armka.conformance.service.surface import Surface
from armka.conformance.service.target import Need
from armka.contract.subjects import Transport

_SHARED = 40
_START_SECONDS = 30.0
_PROBE_SECONDS = 0.1


@check("C4.1 C4.7")
async def two_requests_at_once_are_kept_apart(surface: Surface) -> None:
    """Two jobs at the same time, both in work unless a stream keeps the second: each is answered
    with its own ids, of its own file.
    """
    both = [await surface.prepare(), await surface.prepare()]
    with ExitStack() as stack:
        for one in both:
            stack.enter_context(surface.proxy.holding(Kind.READ, one.source_key))
        await surface.send(*both)
        await surface.acked(*(both if surface.target.transport is Transport.CORE else both[:1]))
    for one in both:
        end = await surface.ended(one)
        surface.expect(f"{one}: its file", one.file_id, str(end.fields.get("file_id")).lower())


async def _all_answered_once(surface: Surface, asked: list[Asked]) -> None:
    await surface.send(*asked)
    for one in asked:
        await surface.acked(one)
    for one in asked:
        await surface.ended(one)
    await surface.quiet()
    for one in asked:
        surface.expect(f"{one}: `processing`, so many times", 1, len(surface.acks(one)))
        # The kit may be slow to answer so many: the same envelope again is no second result.
        said = {(end.msg_id, end.body) for end in surface.ends(one)}
        surface.judge(f"{one}: one result", len(said) == 1, surface.ends(one))
        file = str(surface.ends(one)[0].fields.get("file_id")).lower()
        surface.expect(f"{one}: its file", one.file_id, file)


@check("C4.7")
async def a_burst_is_answered_whole(surface: Surface) -> None:
    """500 requests at once (or as many as the capabilities say): each is acknowledged and answered
    once.
    """
    asked = [await surface.prepare() for _ in range(surface.target.capabilities.burst)]
    surface.note = f"{len(asked)} requests at once"
    await _all_answered_once(surface, asked)


@check("C4.7", Need.COMMAND, Need.REPEATS)
async def instances_share_the_work(surface: Surface) -> None:
    """With a second instance beside the first, every request is answered by one of them."""
    asked = await surface.ask()
    await surface.ended(asked)
    second = await surface.processes.start()
    try:
        await _takes_part(surface, asked)
        await _all_answered_once(surface, [await surface.prepare() for _ in range(_SHARED)])
    finally:
        await surface.processes.end(second)
    await surface.served()


async def _takes_part(surface: Surface, finished: Asked) -> None:
    """Repeat a finished job until an instance that does not know it reads its source again. One
    that is told by the other will not; then the time that a start may take is waited for.
    """
    reads = len(surface.reads(finished))
    end = time.monotonic() + _START_SECONDS
    while len(surface.reads(finished)) == reads and time.monotonic() < end:
        await surface.send(finished)
        await surface.journal.until(lambda: len(surface.reads(finished)) > reads, _PROBE_SECONDS)
