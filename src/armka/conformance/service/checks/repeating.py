"""Requests that come again (C4.4, C4.5)."""

from armka.conformance.service.asked import Asked
from armka.conformance.service.check import check
from armka.conformance.service.proxy import Kind
from armka.conformance.service.surface import Surface
from armka.conformance.service.target import Need
from armka.contract.subjects import Transport


async def _done_once(surface: Surface, asked: Asked, acks: int) -> None:
    """One result, one write at most, so many acks; and then silence."""
    await surface.ended(asked)
    await surface.stays(
        f"{asked}: {acks} × `processing` and one result",
        lambda: len(surface.ends(asked)) == 1 and len(surface.acks(asked)) <= acks,
        lambda: surface.of(asked),
    )
    surface.judge(
        f"{asked}: its result file is written once", len(surface.writes(asked)) <= 1,
        f"{len(surface.writes(asked))} writes",
    )  # fmt: skip


async def _acked_meanwhile(surface: Surface, asked: Asked) -> None:
    """See a repeat acknowledged while its job is in work; it may wait in a stream till the end."""
    if surface.target.transport is Transport.CORE:
        await surface.acked(asked, number=2)
    else:
        quiet = surface.target.quiet_seconds
        await surface.journal.until(lambda: len(surface.acks(asked)) > 1, quiet)


@check("C4.4", Need.REPEATS)
async def a_repeat_in_work_is_acknowledged(surface: Surface) -> None:
    """While the source is being read the same request comes again: `processing` again, one
    recognition, one result.
    """
    asked = await surface.prepare()
    with surface.proxy.holding(Kind.READ, asked.source_key):
        await surface.send(asked)
        await surface.acked(asked)
        await surface.send(asked)
        await _acked_meanwhile(surface, asked)
    await surface.acked(asked, number=2)
    await _done_once(surface, asked, acks=2)


@check("C4.4", Need.REPEATS)
async def a_repeat_of_a_finished_job_is_acknowledged(surface: Surface) -> None:
    """After the result the same request comes again: `processing`, and nothing else; the source is
    not read again.
    """
    asked = await surface.ask()
    await surface.ended(asked)
    reads = len(surface.reads(asked))
    await surface.send(asked)
    await surface.acked(asked, number=2)
    await _done_once(surface, asked, acks=2)
    surface.expect(f"{asked}: reads of its source", reads, len(surface.reads(asked)))


@check("C4.4", Need.REPEATS)
async def a_repeat_of_a_failed_job_is_acknowledged(surface: Surface) -> None:
    """A job that ended in an error was finished too: `processing`, and no second error."""
    asked = await surface.ask(stored=False)
    await surface.ended(asked)
    await surface.send(asked)
    await surface.acked(asked, number=2)
    await _done_once(surface, asked, acks=2)


@check("C4.5", Need.REPEATS)
async def an_invalid_repeat_in_work_is_dropped(surface: Surface) -> None:
    """While a job is in work an invalid request for it comes: nothing is published, and the job
    ends with its own result.
    """
    asked = await surface.prepare()
    with surface.proxy.holding(Kind.READ, asked.source_key):
        await surface.send(asked)
        await surface.acked(asked)
        await surface.send(surface.spoiled(asked, file_type="DOCX"))
        await surface.send(asked)  # what answers this one has met the one before
        await _acked_meanwhile(surface, asked)
    await surface.acked(asked, number=2)
    end = await surface.ended(asked)
    surface.judge("the job's own result", end.code != "SCHEMA_MISMATCH", end)
    await _done_once(surface, asked, acks=2)


@check("C4.5", Need.REPEATS)
async def an_invalid_repeat_of_a_finished_job_is_dropped(surface: Surface) -> None:
    """After a job's result an invalid request for it comes, by schema and by MAJOR: nothing is
    published.
    """
    asked = await surface.ask()
    await surface.ended(asked)
    for over in ({"file_type": "DOCX"}, {"schema_version": "2.0"}):
        await surface.send(surface.spoiled(asked, **over))
    await surface.served()
    await _done_once(surface, asked, acks=1)
