"""`armka upload PATH…`: documents into the core, several at a time."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import httpx
import typer

from armka.cli import api
from armka.cli.api import DEFAULT_URL, ApiRefused, AsJson, Url
from armka.cli.output import print_json, print_table
from armka.cli.progress import progress_bar

_AT_ONCE = 8
_EXTENSIONS = frozenset({".xls", ".xlsx", ".xlsb", ".pdf", ".png", ".jpg", ".jpeg"})


@dataclass(frozen=True)
class Sent:
    """What became of one document: its ids, or why it was refused."""

    path: Path
    file_id: str | None = None
    job_id: str | None = None
    refusal: str | None = None
    code: str | None = None
    same_as: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """One line of the command's JSON output."""
        outcome = (
            {"file_id": self.file_id, "job_id": self.job_id, "same_as": list(self.same_as)}
            if self.file_id
            else {"error": self.refusal}
        )
        return {"path": str(self.path), **outcome, **({"code": self.code} if self.code else {})}


def upload(
    paths: Annotated[
        list[Path], typer.Argument(help="Documents, or folders of them.", exists=True)
    ],
    *,
    client_ref: Annotated[str | None, typer.Option(help="The bank's own id of the client.")] = None,
    url: Url = DEFAULT_URL,
    as_json: AsJson = False,
) -> None:
    """Upload documents: each is stored and queued for recognition. Exit code 1 where one was
    refused.
    """
    documents, others = found(paths)
    for path in others:
        typer.echo(f"armka: passed over, to upload it name it: {path}", err=True)
    if not documents:
        typer.echo("armka: there are no documents in these folders", err=True)
        raise typer.Exit(1)
    sent: list[Sent] = []
    try:
        asyncio.run(_send_with_progress(url, documents, client_ref, sent.append))
    finally:
        # Also after Ctrl-C: who repeats the command must know what is in.
        _report(sent, len(documents), as_json)
    if any(item.refusal for item in sent):
        raise typer.Exit(1)


def found(paths: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """The documents that are named or lie in named folders, and what else lies there.

    A file that is named itself is a document, whatever it is called; hidden ones in folders are
    not looked at.
    """
    documents: list[Path] = []
    others: list[Path] = []
    for path in paths:
        if not path.is_dir():
            documents.append(path)
            continue
        for item in sorted(path.rglob("*")):
            hidden = any(part.startswith(".") for part in item.relative_to(path).parts)
            if item.is_file() and not hidden:
                known = item.suffix.lower() in _EXTENSIONS
                (documents if known else others).append(item)
    return documents, others


async def _send_with_progress(
    url: str,
    documents: Sequence[Path],
    client_ref: str | None,
    keep: Callable[[Sent], object],
) -> None:
    with progress_bar() as bar:
        task = bar.add_task("uploading", total=len(documents))
        async with api.client(url) as http:

            def sent_one(sent: Sent) -> None:
                keep(sent)
                bar.advance(task)

            await send_all(http, documents, client_ref, sent_one)


async def send_all(
    http: httpx.AsyncClient,
    documents: Sequence[Path],
    client_ref: str | None,
    sent_one: Callable[[Sent], object],
) -> list[Sent]:
    """Upload documents, a few at a time; the results come in the order of the documents."""
    room = asyncio.Semaphore(_AT_ONCE)

    async def send(path: Path) -> Sent:
        async with room:
            outcome = await _send(http, path, client_ref)
        sent_one(outcome)
        return outcome

    return await asyncio.gather(*(send(path) for path in documents))


async def _send(http: httpx.AsyncClient, path: Path, client_ref: str | None) -> Sent:
    content = await asyncio.to_thread(path.read_bytes)
    fields = {"client_ref": client_ref} if client_ref else {}
    try:
        made = await api.call_once(
            http, "POST", "/files", files={"file": (_name(path), content)}, data=fields
        )
    except ApiRefused as error:
        return Sent(path, refusal=error.detail, code=error.code or error.kind)
    except httpx.HTTPError as error:
        why = f"no core answers at {http.base_url} ({type(error).__name__}): is it running?"
        return Sent(path, refusal=why, code="no-answer")
    return Sent(path, made["file_id"], made["job_id"], same_as=tuple(made["same_as"]))


def _name(path: Path) -> str:
    """The file's name as text; a system may hold names that are none."""
    return path.name.encode("utf-8", "replace").decode()


def _report(sent: Sequence[Sent], wanted: int, as_json: bool) -> None:
    refused = [item for item in sent if item.refusal]
    if as_json:
        for item in sent:
            print_json(item.as_json())
    else:
        print_table(
            ("file", "file id", "refused", "same bytes as"),
            ((item.path, item.file_id, item.refusal, _first(item.same_as)) for item in sent),
        )
        open_ = wanted - len(sent)
        not_asked = f", {open_} not answered" if open_ else ""
        typer.echo(f"{len(sent) - len(refused)} uploaded, {len(refused)} refused{not_asked}")


def _first(ids: tuple[str, ...]) -> str | None:
    return ids[0] if ids else None
