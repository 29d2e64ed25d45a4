"""How fast tabular-parser reads, beside the bare readers of other libraries on the same file.

A bare reader hands over values; ours reads the cells with all their looks, and then goes the whole
way to checked documents. All of them compute in one thread, so CPU seconds are compared, which a
busy machine moves less; what a child takes is told in milliseconds of the clock.
"""

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from statistics import median

import pandas as pd
import python_calamine
import xlrd

from armka.contract.vocabulary import FileType
from armka.sdk.children import Children
from armka.sdk.frames import Read
from armka.sdk.handler import Source
from armka.sdk.settings import ServiceSettings
from armka.services.tabular_parser.recognise import grids, recognise
from bench.meter import peak_bytes
from bench.report import Floor, spread, table
from tests.books.recognised import WRITERS, source_of, task_of
from tests.books.sheets import Look, Sheet

_COLUMNS = 7
_LARGE, _LARGE_XLS, _MIDDLE, _SMALL = 100_000, 65_000, 20_000, 500
_MONEY = Look("#,##0.00;[Red]-#,##0.00")
_GROUPS = ("Сальдо на начало периода", "Обороты за период", "Сальдо на конец периода")
_ACCOUNTS = (58, 60, 62, 66, 68, 69, 71, 73, 75, 76, 79)
_TASK_SECONDS = 300


class NotRead(Exception):
    """The file of the benchmark was not read."""


@dataclass(frozen=True)
class Contest:
    """A file, and who reads it beside us; `most` or `least` is what our time may be of theirs."""

    name: str
    file_type: FileType
    rows: int
    bare: Callable[[Path], object]
    most: float | None = None
    least: float | None = None


def _calamine(path: Path) -> object:
    return python_calamine.load_workbook(str(path)).get_sheet_by_index(0).to_python()


def _xlrd(path: Path) -> object:
    book = xlrd.open_workbook(str(path), formatting_info=True, logfile=StringIO())
    sheet = book.sheet_by_index(0)
    return [sheet.row_values(row) for row in range(sheet.nrows)]


def _pandas(path: Path) -> object:
    return pd.read_excel(path, engine="openpyxl", header=None)


CONTESTS = [
    Contest("XLSX, calamine", FileType.XLSX, _LARGE, _calamine, most=4),
    Contest("XLSB, calamine", FileType.XLSB, _LARGE, _calamine, most=8),
    Contest("XLS, xlrd", FileType.XLS, _LARGE_XLS, _xlrd, most=2),
    Contest("XLSX, pandas + openpyxl", FileType.XLSX, _MIDDLE, _pandas, least=3),
]


@dataclass(frozen=True)
class Reading:
    """One round of one contest, in CPU seconds: the bare reader, our cells, our whole way."""

    bare: float
    cells: float
    whole: float


@dataclass(frozen=True)
class InChild:
    """What one file takes in a child of the service: seconds with its start, seconds when it is
    warm; bytes that the large file takes at most, for each cell.
    """

    cold: float
    warm: float
    bytes_a_cell: float


@dataclass(frozen=True)
class Readings:
    """All that was measured."""

    contests: dict[str, list[Reading]]
    in_child: list[InChild]


async def measure(folder: Path, rounds: int) -> Readings:
    """Write the files, then read them round by round."""
    files = {contest.name: _file(folder, contest.file_type, contest.rows) for contest in CONTESTS}
    small = _file(folder, FileType.XLSX, _SMALL)
    contests: dict[str, list[Reading]] = {contest.name: [] for contest in CONTESTS}
    in_child = []
    for number in range(rounds):
        for contest in CONTESTS:
            path = files[contest.name]
            source = source_of(path)
            bare = _seconds(lambda: contest.bare(path))  # noqa: B023 - called at once
            gc.disable()  # as the handler does for the whole way
            cells = _seconds(lambda: list(grids(source)))  # noqa: B023
            gc.enable()
            whole = _seconds(lambda: recognise(source))  # noqa: B023
            contests[contest.name].append(Reading(bare, cells, whole))
            print(f"round {number + 1}  {contest.name:<24}{whole / bare:>8.2f}", flush=True)  # noqa: T201
        in_child.append(await _in_child(source_of(small), source_of(files[CONTESTS[0].name])))
    return Readings(contests, in_child)


def _seconds(action: Callable[[], object]) -> float:
    started = time.process_time()
    result = action()
    seconds = time.process_time() - started
    del result
    gc.collect()
    return seconds


async def _in_child(small: Source, large: Source) -> InChild:
    settings = ServiceSettings(concurrency=1, memory_mb=4096)
    started = time.perf_counter()
    async with Children(recognise, settings) as children:
        await _recognised(children, small)
        cold = time.perf_counter() - started
        warm = []
        for _ in range(5):
            started = time.perf_counter()
            await _recognised(children, small)
            warm.append(time.perf_counter() - started)
        before = await _peak(children)
        await _recognised(children, large)
        grown = await _peak(children) - before
    return InChild(cold, median(warm), grown / (_LARGE * _COLUMNS))


async def _peak(children: Children) -> int:
    """The most bytes that the child ever had in memory."""
    async with children.one() as child:
        return peak_bytes(child.pid)


async def _recognised(children: Children, source: Source) -> None:
    async with children.one() as child:
        report, _ = await child.recognise(task_of(source), _TASK_SECONDS)
    if not isinstance(report, Read):
        raise NotRead(str(report))


def _file(folder: Path, file_type: FileType, rows: int) -> Path:
    path = folder / f"{rows}.{file_type.lower()}"
    if not path.exists():
        WRITERS[file_type](path, [_sheet(rows)])
    return path


def _sheet(rows: int) -> Sheet:
    """A balance of so many accounts whose every line and total is right."""
    sheet = Sheet()
    sheet.put(0, 0, "ООО «Ромашка»")
    sheet.put(1, 0, "Оборотно-сальдовая ведомость за 2024 г.")
    sheet.put(3, 0, "Счет, Наименование счета")
    for index, group in enumerate(_GROUPS):
        sheet.put(3, 1 + 2 * index, group)
        sheet.merge(3, 1 + 2 * index, 3, 2 + 2 * index)
        sheet.put(4, 1 + 2 * index, "Дебет")
        sheet.put(4, 2 + 2 * index, "Кредит")
    totals = [0] * 6
    for number in range(rows):
        values = _values(number)
        code = f"{_ACCOUNTS[number // 9801]}.{number // 99 % 99 + 1:02d}.{number % 99 + 1:02d}"
        sheet.put(5 + number, 0, f"{code}, Счет номер {number}")
        for column, value in enumerate(values):
            totals[column] += value
            sheet.put(5 + number, 1 + column, value / 100, _MONEY)
    sheet.put(5 + rows, 0, "Итого")
    for column, value in enumerate(totals):
        sheet.put(5 + rows, 1 + column, value / 100, _MONEY)
    return sheet


def _values(number: int) -> list[int]:
    """Six amounts that look like any and balance; every second line mirrors the one before."""
    opening, debit, credit = (
        (number // 2 * factor) % 10**10 + 1 for factor in (7_919_317, 3_571_913, 1_299_709)
    )
    closing = opening + debit - credit
    values = [opening, 0, debit, credit, max(closing, 0), max(-closing, 0)]
    if number % 2:
        return [values[column ^ 1] for column in range(6)]
    return values


def floors(readings: Readings) -> list[Floor]:
    """What must hold."""
    found = []
    for contest in CONTESTS:
        rounds = readings.contests[contest.name]
        if contest.most is not None:
            ratios = [one.whole / one.bare for one in rounds]
            found.append(Floor(f"whole parse / bare {contest.name}", ratios, most=contest.most))
        else:
            ratios = [one.bare / one.whole for one in rounds]
            found.append(Floor(f"{contest.name} / whole parse", ratios, least=contest.least))
    children = readings.in_child
    return [
        *found,
        Floor("500 rows in a warm child, ms", [1000 * it.warm for it in children], most=150),
        Floor("500 rows in a cold child, ms", [1000 * it.cold for it in children], most=600),
        Floor("peak memory, bytes a cell", [it.bytes_a_cell for it in children], most=600),
    ]


def report(readings: Readings) -> str:
    """The table of times."""
    return table(
        ["CPU s", "rows", "bare", "arm-ka: cells", "whole", "cells / bare", "whole / bare"],
        [
            [
                contest.name,
                f"{contest.rows:,}",
                spread([one.bare for one in rounds], 2),
                spread([one.cells for one in rounds], 2),
                spread([one.whole for one in rounds], 2),
                spread([one.cells / one.bare for one in rounds], 2),
                spread([one.whole / one.bare for one in rounds], 2),
            ]
            for contest in CONTESTS
            if (rounds := readings.contests[contest.name])
        ],
    )
