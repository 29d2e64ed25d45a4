"""`armka conform service`: from options to a report."""

import contextlib
import tempfile
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import typer

from armka.cli import verdicts
from armka.cli.verdicts import NothingJudged
from armka.conformance.report.entry import Entry, Report
from armka.conformance.service import capabilities as declaring
from armka.conformance.service import documents, runner
from armka.conformance.service.capabilities import Capabilities, CapabilitiesInvalid
from armka.conformance.service.check import Check
from armka.conformance.service.documents import Document
from armka.conformance.service.process import CommandNotStarted
from armka.conformance.service.stream import StreamUnusable
from armka.conformance.service.target import Target
from armka.conformance.service.wire import NatsUnreachable
from armka.contract.vocabulary import Pipeline
from armka.objects.store import StoreUnavailable


@contextlib.asynccontextmanager
async def servers(*, embedded: bool) -> AsyncIterator[Mapping[str, str]]:
    """Servers for this run alone; nothing where the user has some."""
    if not embedded:
        yield {}
        return
    from armka.stack import NatsServer, ObjectServer

    with tempfile.TemporaryDirectory(prefix="armka-conform-") as folder:
        home = Path(folder)
        async with (
            NatsServer(home / "nats", fsync=False) as nats,
            ObjectServer(home / "s3") as objects,
        ):
            yield nats.env() | objects.env()


def address_of(listen: str) -> tuple[str, int]:
    """Host and port of HOST:PORT; raises NothingJudged."""
    host, _, port = listen.rpartition(":")
    if not host or not port.isdecimal():
        raise NothingJudged(f"--listen {listen}: give HOST:PORT")
    return host, int(port)


def declared(
    path: Path | None, files: Sequence[Path], pipeline: Pipeline
) -> tuple[Capabilities, tuple[Document, ...]]:
    """What the service declares, and files that it reads; raises NothingJudged."""
    try:
        capabilities = declaring.read(path) if path else Capabilities()
        given = tuple(documents.from_file(file, pipeline) for file in files)
    except (CapabilitiesInvalid, documents.FileNotTaken, OSError) as error:
        raise NothingJudged(str(error)) from None
    own = documents.own(pipeline)
    if not given and pipeline is Pipeline.TABULAR and own.file_type in capabilities.reads(pipeline):
        given = (own,)
    return capabilities, given


async def judged(target: Target, chosen: Sequence[Check]) -> Report:
    """Run the checks; raises NothingJudged."""
    begun = datetime.now(UTC)

    def tell(address: str) -> None:
        typer.echo(f"The kit's S3: S3_ENDPOINT_URL={address}", err=True)

    try:
        found = await runner.judged(
            target, chosen, tell=tell, heard=lambda one: verdicts.print_line(_of_check(one))
        )
    except (
        runner.ServiceNotReady, CommandNotStarted, StreamUnusable, NatsUnreachable,
        StoreUnavailable,
    ) as error:  # fmt: skip
        raise NothingJudged(str(error)) from None
    about = {
        "pipeline": target.pipeline.value,
        "transport": target.transport.value,
        "service": target.capabilities.name or "not named",
        "command": " ".join(target.command) or "started by somebody else",
        "files": ", ".join(one.name for one in target.documents) or "the kit's own",
        "patience": f"{target.patience_seconds:g} s, quiet {target.quiet_seconds:g} s",
    }
    return Report("A recognition service", about, begun, tuple(map(_of_check, found)))


def _of_check(verdict: runner.Verdict) -> Entry:
    one = verdict.check
    detail = f"expected: {verdict.expected}\ncame:     {verdict.seen}" if verdict.expected else ""
    return Entry(
        one.id, one.room, one.promises, one.summary, verdict.outcome, detail, verdict.note,
        verdict.events, verdict.seconds,
    )  # fmt: skip
