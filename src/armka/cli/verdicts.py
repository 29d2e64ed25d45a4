"""How the conformance kits tell what they found: a line each, a summary, and files."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import typer
from rich.console import Console
from rich.text import Text

from armka.cli.output import print_json, print_table

if TYPE_CHECKING:
    from armka.conformance.report.entry import Entry, Report

Only = Annotated[
    list[str] | None, typer.Option("--only", help="This one alone, by its id. Repeatable.")
]
Listing = Annotated[bool, typer.Option("--list", help="Tell what there is, and judge nothing.")]
Json = Annotated[bool, typer.Option("--json", help="Print the report as JSON.")]
Html = Annotated[Path | None, typer.Option("--html", help="Write the report as a page.")]
Junit = Annotated[Path | None, typer.Option("--junit", help="Write the report as JUnit's XML.")]

_STYLES = {"passed": "green", "failed": "bold red", "not applicable": "yellow"}
_SHOWN_EVENTS = 30


class NothingJudged(Exception):
    """The kit could not do its work; the message says what is missing."""


class Listed(Protocol):
    """What both kits' checks tell of themselves."""

    @property
    def id(self) -> str: ...
    @property
    def promises(self) -> tuple[str, ...]: ...
    @property
    def summary(self) -> str: ...


ListedT = TypeVar("ListedT", bound=Listed)


def chosen(known: Sequence[ListedT], only: Sequence[str] | None) -> list[ListedT]:
    """Those asked for, or all; an unknown id ends the command."""
    by_id = {one.id: one for one in known}
    unknown = [name for name in only or () if name not in by_id]
    if unknown:
        typer.echo(f"armka: no check {', '.join(unknown)}; --list tells all", err=True)
        raise typer.Exit(2)
    return [by_id[name] for name in only] if only else list(known)


def print_list(checks: Sequence[Listed], as_json: bool) -> None:
    """Tell what there is."""
    if as_json:
        for one in checks:
            print_json({"id": one.id, "promises": one.promises, "summary": one.summary})
        return
    rows = ((one.id, " ".join(one.promises), one.summary) for one in checks)
    print_table(("check", "proves", "what must be seen"), rows)


def print_line(entry: "Entry") -> None:
    """Tell one verdict as it falls, on standard error."""
    console = Console(stderr=True, soft_wrap=True)
    line = Text(f"{entry.outcome.value:15}", style=_STYLES[entry.outcome.value])
    line.append(f"{entry.seconds:7.2f} s  {entry.id}", style="default")
    if entry.note:
        line.append(f"  ({entry.note})", style="dim")
    console.print(line)


def _print_finding(entry: "Entry") -> None:
    console = Console(soft_wrap=True, highlight=False)
    console.print(Text(f"\n{entry.id} ({' '.join(entry.promises)})", style="bold red"))
    console.print(Text(entry.summary))
    console.print(Text(entry.detail))
    hidden = len(entry.events) - _SHOWN_EVENTS
    if hidden > 0:
        console.print(Text(f"  ({hidden} events before)", style="dim"))
    for event in entry.events[-_SHOWN_EVENTS:]:
        console.print(Text(f"  {event}", style="dim"))


def report(
    judged: "Callable[[], Coroutine[Any, Any, Report]]",
    *,
    as_json: bool,
    html: Path | None,
    junit: Path | None,
) -> None:
    """Judge, tell, write the files, and end with the exit code."""
    import structlog

    from armka.conformance.report import as_json as json_report
    from armka.conformance.report import junit as junit_report
    from armka.conformance.report import page

    # What the kit's own connection logs is no finding.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    try:
        found = asyncio.run(judged())
    except NothingJudged as error:
        typer.echo(f"armka: {error}", err=True)
        raise typer.Exit(2) from None
    for path, write in ((html, page.written), (junit, junit_report.written)):
        if path is not None:
            path.write_text(write(found), encoding="utf-8")
    if as_json:
        typer.echo(json_report.written(found))
    else:
        _print_verdict(found)
    raise typer.Exit(0 if found.conforms else 1)


def _print_verdict(found: "Report") -> None:
    for entry in found.entries:
        if entry.detail:
            _print_finding(entry)
    style = "bold green" if found.conforms else "bold red"
    Console().print(Text(f"\n{found.title} {found.verdict}", style=style))
