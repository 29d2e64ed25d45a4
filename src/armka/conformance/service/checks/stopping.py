"""The end of a service: what is in work is answered (§8)."""

from armka.conformance.service.asked import Asked
from armka.conformance.service.check import check
from armka.conformance.service.process import ServiceProcess
from armka.conformance.service.proxy import Kind
from armka.conformance.service.surface import Surface
from armka.conformance.service.target import Need
from armka.contract.subjects import Transport


async def _stop(surface: Surface, asked: Asked) -> ServiceProcess:
    """SIGTERM while a job is in work, which may then go on."""
    (process,) = surface.processes
    with surface.proxy.holding(Kind.READ, asked.source_key):
        await surface.send(asked)
        await surface.acked(asked)
        await surface.comes(f"{asked}: a read of its source", lambda: surface.reads(asked))
        surface.journal.add("SIGTERM to the service")
        process.stop()
    return process


@check("§8", Need.COMMAND)
async def sigterm_leaves_no_job_behind(surface: Surface) -> None:
    """SIGTERM comes while a source is being read: the job is answered before the process ends, or
    after the next start where a stream keeps the request; the process ends by itself with code 0.
    """
    asked = await surface.prepare()
    process = await _stop(surface, asked)
    code = await process.ended(surface.target.patience_seconds)
    surface.journal.add(f"the service has ended with code {code}")
    answered = bool(surface.ends(asked))
    await surface.processes.end(process)
    await surface.processes.start()
    await surface.takes_part()
    surface.expect("the exit code after SIGTERM (None: it does not end)", 0, code)
    if surface.target.transport is Transport.CORE:
        surface.judge(f"{asked}: a result before the process ends", answered, surface.of(asked))
    end = await surface.ended(asked)
    await surface.stays(
        f"{asked}: one result",
        lambda: len({one.body for one in surface.ends(asked)}) == 1,
        lambda: surface.ends(asked),
    )
    surface.note = f"the job in work ended {end.status}"
