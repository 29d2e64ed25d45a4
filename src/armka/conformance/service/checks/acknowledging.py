"""A request is acknowledged at once (C4.1, C4.7)."""

from contextlib import ExitStack

from armka.conformance.service.asked import Asked
from armka.conformance.service.check import check
from armka.conformance.service.proxy import Kind
from armka.conformance.service.surface import Surface
from armka.contract.subjects import Transport

_BACKLOG = 20


@check("C1 C2 C4.1")
async def a_request_is_acknowledged(surface: Surface) -> None:
    """A valid request is answered with `processing` under the id ack:<job_id>:<attempt>, which
    names job, file and service.
    """
    asked = await surface.ask()
    await surface.acked(asked)
    ack = surface.acks(asked)[0].fields
    surface.expect("its file_id", asked.file_id, str(ack.get("file_id")).lower())
    service = ack.get("service") or {}
    named = surface.target.capabilities.name or service.get("name")
    surface.judge("service.name", service.get("name") and service["name"] == named, service)
    surface.judge("service.version", service.get("version"), service)
    await surface.ended(asked)


@check("C4.1")
async def the_acknowledgement_precedes_the_read(surface: Surface) -> None:
    """With the read of the source held up, `processing` comes all the same."""
    asked = await surface.prepare()
    with surface.proxy.holding(Kind.READ, asked.source_key):
        await surface.send(asked)
        await surface.acked(asked)
    await surface.ended(asked)


@check("C4.7")
async def acknowledgements_wait_for_no_worker(surface: Surface) -> None:
    """Twenty requests are acknowledged while not one of their sources can be read. Of a stream
    that is asked of those which the service has taken: the others may wait there.
    """
    asked = [await surface.prepare() for _ in range(_BACKLOG)]
    with ExitStack() as stack:
        for one in asked:
            stack.enter_context(surface.proxy.holding(Kind.READ, one.source_key))
        await surface.send(*asked)
        if surface.target.transport is Transport.CORE:
            await surface.acked(*asked)
        else:
            await _taken_are_acked(surface, asked)
    for one in asked:
        await surface.ended(one)


async def _taken_are_acked(surface: Surface, asked: list[Asked]) -> None:
    async def late() -> int:
        taken = sum(one.unacknowledged for one in await surface.consumers())
        return taken - sum(bool(surface.acks(one)) for one in asked)

    await surface.acked(asked[0])
    await surface.quiet()  # it may still be taking
    if await late() > 0:
        await surface.journal.until(lambda: False, surface.target.patience_seconds)
        surface.expect("requests taken and not acknowledged", 0, max(await late(), 0))
