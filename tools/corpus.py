"""Every spreadsheet of a folder through tabular-parser in its child processes, and a reckoning.

    .venv/bin/python -m tools.corpus FOLDER [--json FILE]

Each file goes the service's way: the upload's sniffing, then the handler in a child with the
service's limits, though a child that refused a file is used again here, to save time and to see
what would stick. Then the cells that the readers hand over are laid beside those of calamine, in a
child too, for calamine may abort. What calamine takes for a date is not compared. No name of a file
is printed: public collections hold names of people.
"""

import argparse
import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, time, timedelta
from pathlib import Path
from typing import Any

import msgspec
import python_calamine

from armka.contract.result import Document, DocumentSource
from armka.contract.vocabulary import FileType, Pipeline
from armka.core.errors import UploadRefused
from armka.core.files.sniff import sniff
from armka.osv.grid import Grid
from armka.sdk.children import Child, ChildDied, Children, ResultTooLarge, TimeLimitPassed
from armka.sdk.frames import Broken, Declined, Read, Report, Task
from armka.sdk.handler import Handler, Recognition, Refused, Source
from armka.sdk.settings import ServiceSettings
from armka.services.tabular_parser.recognise import grids, recognise
from tests.books.recognised import source_of, task_of

_SETTINGS = ServiceSettings(time_limit_seconds=60)
_DATES = (date, time, timedelta)
_NOTHING = Document(
    kind="OSV",
    group_schema="accounts",
    title="",
    unit=1,
    source=DocumentSource(sheet="-"),
    lines=[],
    checks=[],
)


def examine(source: Source) -> Recognition:
    """A handler that tells how the service's own ends."""
    try:
        recognition = recognise(source)
    except Refused as refused:
        return Recognition([_NOTHING], metrics={"ends": str(refused.code)})
    ends = "needs_check" if recognition.needs_check else "done"
    return replace(recognition, metrics={"ends": ends})


def compare(source: Source) -> Recognition:
    """A handler that counts cells: alike in our grids and in calamine's, different, on one side."""
    theirs = python_calamine.load_workbook(str(source.path))
    counts: Counter[str] = Counter()
    for grid in grids(source):
        if not grid.hidden and grid.sheet in theirs.sheet_names:
            rows = theirs.get_sheet_by_name(grid.sheet).to_python(skip_empty_area=False)
            counts.update(_laid_beside(grid, rows))
    return Recognition([_NOTHING], metrics=dict(counts))


def _laid_beside(grid: Grid, rows: Sequence[Sequence[object]]) -> Iterator[str]:
    ours = {(row.number - 1, cell[0]): cell[1] for row in grid.rows for cell in row.cells}
    seen = set()
    for number, row in enumerate(rows):
        for column, theirs in enumerate(row):
            if theirs == "":
                continue
            seen.add((number, column))
            own = ours.get((number, column))
            if isinstance(theirs, _DATES):
                yield "dates to calamine"
            elif own is None:
                yield "only calamine"
            else:
                yield "alike" if _alike(own, theirs) else "different"
    yield from ("only here" for place in ours if place not in seen and ours[place] != "")


def _alike(own: object, theirs: object) -> bool:
    if isinstance(theirs, int | float) and not isinstance(own, str):
        return float(own) == float(theirs)  # type: ignore[arg-type]
    return " ".join(str(own).split()) == " ".join(str(theirs).split())


async def _through(children: Children, task: Task) -> tuple[str, dict[str, Any]]:
    """How a file ended, and its metrics."""
    async with children.one() as child:
        return await _outcome(child, task)


async def _outcome(child: Child, task: Task) -> tuple[str, dict[str, Any]]:
    try:
        report, _ = await child.recognise(task, _SETTINGS.time_limit_seconds)
    except TimeLimitPassed:
        return "hang", {}
    except ResultTooLarge:
        return "result too large", {}
    except ChildDied as died:
        return f"crash: {died.status}", {}
    if isinstance(report, Read):
        metrics = msgspec.json.decode(report.metrics)
        return metrics.pop("ends", "compared"), metrics
    return _failure(report), {}


def _failure(report: Report) -> str:
    match report:
        case Declined(code, _):
            return str(code)
        case Broken(where, _):
            return f"broken: {where}"
        case _:
            return type(report).__name__


def _task(path: Path) -> Task | str:
    """The file as a task, or why the upload refuses it."""
    with path.open("rb") as content:
        try:
            file_type = sniff(content, "file.xls")
        except UploadRefused as refused:
            return f"upload: {refused.code}"
    if file_type.pipeline is not Pipeline.TABULAR:
        return f"upload: {file_type}"
    return task_of(source_of(path, FileType(file_type)))


async def _run(handler: Handler, tasks: list[Task]) -> list[tuple[str, dict[str, Any]]]:
    async with Children(handler, _SETTINGS) as children:
        return await asyncio.gather(*(_through(children, task) for task in tasks))


async def _reckon(files: list[Path]) -> dict[str, object]:
    outcomes: dict[str, Counter[str]] = {}
    cells: dict[str, Counter[str]] = {}
    found = [_task(path) for path in files]
    outcomes["not taken"] = Counter(task for task in found if isinstance(task, str))
    tasks = [task for task in found if isinstance(task, Task)]
    odd = []
    for task, (outcome, _) in zip(tasks, await _run(examine, tasks), strict=True):
        outcomes.setdefault(task.file_type, Counter())[outcome.partition(" at ")[0]] += 1
        if outcome.startswith(("Out", "broken", "crash", "done", "hang", "needs", "result")):
            odd.append((task.sha256, outcome))
    for task, (outcome, metrics) in zip(tasks, await _run(compare, tasks), strict=True):
        counts = cells.setdefault(task.file_type, Counter())
        counts.update(metrics)
        counts["files" if outcome == "compared" else f"not compared: {outcome}"] += 1
        if metrics.get("different") or metrics.get("only calamine") or metrics.get("only here"):
            odd.append((task.sha256, str(metrics)))
    return {"files": len(found), "outcomes": outcomes, "cells": cells, "odd": odd}


def main() -> None:
    """Print the reckoning."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path, help="write all, with the files' checksums, here")
    options = parser.parse_args()
    files = [path for path in sorted(options.folder.rglob("*")) if path.is_file()]
    reckoning = asyncio.run(_reckon(files))
    if options.json:
        options.json.write_text(json.dumps(reckoning, indent=1))
    print(json.dumps({k: v for k, v in reckoning.items() if k != "odd"}, indent=1))


if __name__ == "__main__":
    main()
