"""What cannot be recognised ends in an error that says why (C2, C4.6)."""

import dataclasses
from datetime import UTC, datetime, timedelta

from armka.conformance.service import documents
from armka.conformance.service.check import check
from armka.conformance.service.proxy import Kind
from armka.conformance.service.surface import Surface
from armka.conformance.service.target import Need
from armka.contract.fields import format_instant
from armka.contract.vocabulary import FileType

_REFUSALS = 5
_LOSS_SECONDS = 10.0
_ABOUT_THE_FILE = (
    "UNREADABLE",
    "INVALID_FORMAT",
    "INVALID_DOCUMENT",
    "FILE_READ_ERROR",
    "RECOGNITION_FAILED",
)


@check("C2")
async def a_missing_source_is_a_file_read_error(surface: Surface) -> None:
    """The object is not there: `processing`, then error / FILE_READ_ERROR. The service goes on."""
    asked = await surface.ask(stored=False)
    await surface.failed(asked, "FILE_READ_ERROR")
    await surface.served()


@check("C2")
async def a_corrupt_file_is_an_error(surface: Surface) -> None:
    """An empty file, noise, and half a file followed by noise: each ends in an error whose code
    speaks of the file, and no result file is written. The service goes on.
    """
    like = surface.document
    for content in documents.corrupt(like).values():
        asked = await surface.ask(dataclasses.replace(like, content=content))
        await surface.failed(asked, *_ABOUT_THE_FILE)
        surface.expect(f"{asked}: writes of a result file", 0, len(surface.writes(asked)))
    await surface.served()


@check("C2", Need.ENCRYPTION)
async def an_encrypted_file_is_an_invalid_format(surface: Surface) -> None:
    """A document under a password: error / INVALID_FORMAT, or UNSUPPORTED_FORMAT where the service
    reads no file of that type.
    """
    document = documents.encrypted(surface.target.pipeline)
    readable = document.file_type in surface.target.capabilities.reads(surface.target.pipeline)
    asked = await surface.ask(document)
    await surface.failed(asked, "INVALID_FORMAT" if readable else "UNSUPPORTED_FORMAT")


@check("C2")
async def a_type_that_it_does_not_read_is_unsupported(surface: Surface) -> None:
    """A file of each type that the service does not read, also of the other pipeline: error /
    UNSUPPORTED_FORMAT.
    """
    reads = surface.target.capabilities.reads(surface.target.pipeline)
    for file_type in FileType:
        if file_type not in reads:
            document = documents.Document(f"файл.{file_type.lower()}", file_type, b"content")
            await surface.failed(await surface.ask(document), "UNSUPPORTED_FORMAT")


@check("C4.6")
async def a_past_deadline_is_a_timeout(surface: Surface) -> None:
    """`processing`, then error / TIMEOUT, and the source is not even read."""
    past = format_instant(datetime.now(UTC) - timedelta(minutes=5))
    asked = await surface.ask(reply_deadline=past)
    await surface.failed(asked, "TIMEOUT")
    surface.expect(f"{asked}: reads of its source", 0, len(surface.reads(asked)))
    await surface.served()


@check("§8")
async def the_loss_of_s3_is_outlived(surface: Surface) -> None:
    """While S3 refuses everything a request is acknowledged; afterwards it is answered, one way or
    the other, and the next one is served.
    """
    asked = await surface.prepare()
    surface.proxy.refusing = True
    try:
        await surface.send(asked)
        await surface.acked(asked)
        # A client repeats a few times by itself: only then the service has a loss to outlive.
        await surface.journal.until(
            lambda: len(surface.reads(asked)) > _REFUSALS or surface.ends(asked),
            min(surface.target.patience_seconds, _LOSS_SECONDS),
        )
    finally:
        surface.proxy.refusing = False
    await surface.ended(asked)
    await surface.served()


@check("C2 I8", Need.DOCUMENT)
async def a_raw_answer_lies_in_its_place(surface: Surface) -> None:
    """Where an envelope names raw_s3_key, it is raw/<job_id>.json, and the object was written
    before.
    """
    asked = await surface.ask()
    end = await surface.ended(asked)
    key = end.fields.get("raw_s3_key")
    if key is None:
        surface.note = "this service writes no raw answer"
        return
    surface.expect("raw_s3_key", f"raw/{asked.job_id}.json", key)
    done = [one.ended for one in surface.proxy.of(key, Kind.WRITE) if one.succeeded and one.ended]
    surface.judge(f"{key} is written before", [n for n in done if n < end.n], "no such write")
