"""What only a stream can promise (§3, jetstream)."""

from armka.conformance.service.check import check
from armka.conformance.service.stream import Consumer
from armka.conformance.service.surface import Surface
from armka.conformance.service.target import Need


@check("C4.7 §3", Need.STREAM)
async def requests_are_taken_through_one_durable(surface: Surface) -> None:
    """The service reads its requests from the stream, through one durable consumer, named like
    itself.
    """
    asked = await surface.ask()
    end = await surface.ended(asked)
    found = await surface.consumers()
    surface.judge("one durable consumer", [c.is_durable for c in found] == [True], found)
    name = (end.fields.get("service") or {}).get("name")
    surface.expect("its name, which is the service's", name, found[0].name)


@check("§3", Need.STREAM)
async def requests_are_acknowledged_to_the_stream(surface: Surface) -> None:
    """After its result a request is settled, valid or not: the stream does not send it again."""
    asked = await surface.ask()
    await surface.ended(asked)
    await surface.send(surface.spoiled(await surface.prepare(stored=False), file_type="DOCX"))
    await surface.send_raw((b"{", None))
    await surface.served()

    def settled(found: list[Consumer]) -> bool:
        return all(not one.pending and not one.unacknowledged for one in found)

    for _ in range(int(surface.target.patience_seconds * 5)):
        if settled(await surface.consumers()):
            return
        await surface.journal.until(lambda: False, 0.2)
    surface.judge("nothing pending, nothing unacknowledged", False, await surface.consumers())


@check("§3", Need.STREAM, Need.COMMAND)
async def the_stream_keeps_requests_for_it(surface: Surface) -> None:
    """A request that is published while no instance runs is served by the next one."""
    (process,) = surface.processes
    await surface.processes.end(process)
    asked = await surface.ask()
    await surface.processes.start()
    await surface.acked(asked)
    await surface.ended(asked)
