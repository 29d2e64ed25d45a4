"""How the commands print: JSON for programs, tables for people."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

_STATUS_STYLES = {
    "DONE": "green",
    "done": "green",
    "NEEDS_CHECK": "yellow",
    "needs_check": "yellow",
    "ERROR": "red",
    "error": "red",
    "timeout": "red",
    "dlq": "red",
    "REFUSED": "red",
    "ok": "green",
    "drift": "red",
    "unreached": "red",
}


def print_json(value: Any) -> None:
    """Print one value as a line of JSON."""
    typer.echo(json.dumps(value, ensure_ascii=False))


def print_table(
    columns: Sequence[str], rows: Iterable[Sequence[object]], *, status: int | None = None
) -> None:
    """Print rows; `status` is the index of the column that is coloured."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    for row in rows:
        # Text, not markup: names of files and firms may hold square brackets.
        cells = [Text("" if cell is None else str(cell)) for cell in row]
        if status is not None:
            cells[status].stylize(_STATUS_STYLES.get(cells[status].plain, ""))
        table.add_row(*cells)
    Console().print(table)


def print_facts(facts: dict[str, object]) -> None:
    """Print names with their values, one a line; nothing for what is not known."""
    known = {name: value for name, value in facts.items() if value is not None}
    width = max(map(len, known), default=0)
    for name, value in known.items():
        typer.echo(f"{name:{width}}  {value}")
