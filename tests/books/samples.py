"""The files in `samples/`: what each is, and what it must end as.

`PYTHONPATH=src python -m tests.books.samples` writes them anew, the same each time.
"""

import io
import struct
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from random import Random

from tests.books import compound, xls, xlsb, xlsx
from tests.books.layouts import Layout, lay_out
from tests.books.ledger import Ledger, make
from tests.books.report_sheets import Dress
from tests.books.reports import FAMILIES
from tests.books.sheets import Sheet

FOLDER = Path(__file__).parents[2] / "samples"
_ZIP_DATE = (2025, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Sample:
    """A file and its end: `done`, `needs_check`, or the code of the error; `lines` of each
    document.
    """

    name: str
    write: Callable[[Path], None]
    ends: str
    lines: tuple[int, ...] = ()


def _ledger(
    seed: int,
    organisation: str,
    inn: str | None,
    period: str,
    dates: tuple[date, date],
    **options: bool | float,
) -> Ledger:
    ledger = make(Random(seed), **options)  # type: ignore[arg-type]
    ledger.organisation, ledger.inn, ledger.period, ledger.dates = organisation, inn, period, dates
    return ledger


def _year(seed: int, organisation: str, **options: bool | float) -> Ledger:
    dates = date(2023, 1, 1), date(2023, 12, 31)
    return _ledger(seed, organisation, None, "за 2023 г.", dates, **options)


def _subaccounts(path: Path) -> None:
    """1С: codes that live in number formats, formats numbered from 50, an outline, off-balance
    accounts.
    """
    ledger = _year(11, 'ООО "Ромашка-Трейд"', off_balance=True)
    xls.write(path, [lay_out(ledger, Layout(first_column=1, currency_line="Валюта БУ, НУ: RUB"))])


def _one_column(path: Path) -> None:
    """1С: one column for code and name, decorative columns, header further down, SharedStrings with
    a capital S.
    """
    dates = date(2024, 1, 1), date(2024, 6, 30)
    ledger = _ledger(
        12, "АО «Северный ветер»", "7700000016", "за 1 полугодие 2024 г.", dates, expanded=True
    )
    layout = Layout(combined=True, first_column=1, above=4, decorative=(1, 0, 2, 0, 1))
    xlsx.write(path, [lay_out(ledger, layout)], like_1c=True)


def _thousands(path: Path) -> None:
    """In thousands of roubles, each number rounded by itself."""
    dates = date(2024, 7, 1), date(2024, 9, 30)
    ledger = _ledger(
        13,
        "Липовый мед ООО",
        None,
        "за 3 квартал 2024 г.",
        dates,
        largest=10**12,
        subaccounts=False,
    )
    for account in ledger.accounts:
        account.values = tuple(round(value / 100_000) * 100 for value in account.values)  # type: ignore[assignment]
    ledger.total = tuple(round(value / 100_000) * 100 for value in ledger.total)  # type: ignore[assignment]
    layout = Layout(unit_line="Единица измерения: тыс. руб.", money="#,##0")
    xlsb.write(path, [lay_out(ledger, layout)])


def _texts(path: Path) -> None:
    """Amounts that are texts with no-break spaces, synthetic accounts only, columns numbered under
    the header.
    """
    dates = date(2024, 1, 1), date(2024, 9, 30)
    ledger = _ledger(
        14,
        "ИП Незнамов Арсений Аристархович",
        "770000000082",
        "за 9 месяцев 2024 г.",
        dates,
        subaccounts=False,
    )
    layout = Layout(
        text_amounts="\u00a0", numeric_codes=False, outline=False, numbered_columns=True
    )
    xlsx.write(path, [lay_out(ledger, layout)])


def _pages(path: Path) -> None:
    """The header on every page, subaccounts hidden under a closed outline, float noise."""
    dates = date(2024, 7, 1), date(2025, 7, 31)
    ledger = _ledger(
        15,
        'Общество с ограниченной ответственностью "Тихая гавань"',
        None,
        "за Июль 2024 г. - Июль 2025 г.",
        dates,
    )
    layout = Layout(page_break_after=25, collapsed=True, noise=2e-16)
    xlsb.write(path, [lay_out(ledger, layout)])


def _two_sheets(path: Path) -> None:
    """Two quarters on two sheets, and a third sheet of notes."""
    first = _ledger(
        16,
        "ООО «Берег»",
        None,
        "за 1 квартал 2024 г.",
        (date(2024, 1, 1), date(2024, 3, 31)),
        share=0.5,
    )
    second = _ledger(
        17,
        "ООО «Берег»",
        None,
        "за 2 квартал 2024 г.",
        (date(2024, 4, 1), date(2024, 6, 30)),
        share=0.5,
    )
    notes = Sheet("Заметки")
    notes.put(0, 0, "Проверить сальдо по счету 76 с бухгалтером")
    sheets = [lay_out(first, Layout(), "1 квартал"), lay_out(second, Layout(), "2 квартал"), notes]
    xlsx.write(path, sheets, like_1c=True)


def _unbalanced(path: Path) -> None:
    """One amount of a subaccount was changed by hand."""
    ledger = _year(18, "ООО «Два берега»")
    account = next(a for a in ledger.accounts if a.code == "60.01")
    values = list(account.values)
    values[3] += 900_000
    account.values = tuple(values)  # type: ignore[assignment]
    xlsx.write(path, [lay_out(ledger, Layout())], like_1c=True)


def _unreadable_cell(path: Path) -> None:
    """One amount is a text in which a letter stands for a digit."""
    sheet = lay_out(_year(19, "АО «Луговое»"), Layout(numeric_codes=False))
    row = next(row for (row, _), (value, _) in sheet.cells.items() if value == "62")
    column = next(c for c in range(2, 8) if (row, c) in sheet.cells)
    sheet.put(row, column, "1 2З4 567,8О")
    xls.write(path, [sheet])


def _card(path: Path) -> None:
    """Another report of 1С."""
    sheet = Sheet()
    sheet.put(0, 0, "ООО «Берег»")
    sheet.put(1, 0, "Карточка счета 51 за 1 квартал 2024 г.")
    for column, label in enumerate(
        ("Период", "Документ", "Аналитика Дт", "Аналитика Кт", "Дебет", "Кредит", "Текущее сальдо")
    ):
        sheet.put(3, column, label)
    for row in range(5):
        sheet.put(4 + row, 0, f"{10 + row}.01.2024")
        sheet.put(4 + row, 1, f"Поступление на расчетный счет 0000-0000{row}")
        sheet.put(4 + row, 4, 1000.5 * (row + 1))
    xlsx.write(path, [sheet])


def _chess(path: Path) -> None:
    """A report that has no title, so that only its table says what it is."""
    codes = ["41", "50", "51", "60", "62", "90"]
    sheet = Sheet()
    sheet.put(0, 0, "ООО «Берег»")
    for index, code in enumerate(codes):
        sheet.put(2, 1 + index, code)
        sheet.put(3 + index, 0, code)
        sheet.put(3 + index, 1 + (index + 2) % 6, 1000.5 * (index + 1))
    xlsx.write(path, [sheet])


def _report(family: str, seed: int, **dress: object) -> Sheet:
    """One of the families, dressed."""
    return FAMILIES[family](Random(seed)).sheet(Dress(**dress))  # type: ignore[arg-type]


def _one_account(path: Path) -> None:
    """Subconto of two levels under subaccounts."""
    xlsx.write(
        path, [_report("subconto, two levels", 66, organisation="ООО «Берег»")], like_1c=True
    )


def _turnovers(path: Path) -> None:
    """Обороты счета, with columns of correspondent accounts."""
    xls.write(path, [_report("обороты счета", 54, organisation="АО «Луговое»", first_column=1)])


def _analysis(path: Path) -> None:
    """Анализ счета, its outline lost."""
    sheet = _report(
        "анализ счета", 65, organisation="ООО «Два берега»", outline=False, indent=False
    )
    xlsb.write(path, [sheet])


def _indicators(path: Path) -> None:
    """БУ, НУ, ПР and ВР."""
    xlsx.write(path, [_report("БУ, НУ, ПР, ВР", 34, organisation="АО «Северный ветер»")])


def _budget(path: Path) -> None:
    """A budget institution: КФО, budget chart, КБК."""
    xls.write(path, [_report("БГУ", 35, organisation="ГБУ «Школа у моря»", decorative=(1,))])


def _four_digits(path: Path) -> None:
    """Another chart of accounts."""
    xlsx.write(path, [_report("four digits", 36, organisation="ТОО «Степной ключ»")])


def _protected(path: Path) -> None:
    """An XLS with a password: all that can be seen of it is that it is encrypted."""
    begin = struct.pack("<HHHHHHII", 0x809, 16, 0x600, 5, 0x1234, 1997, 0, 0)
    protected = struct.pack("<HHH", 0x2F, 54, 1) + Random(21).randbytes(52)
    compound.write(path, {"Workbook": begin + protected + Random(22).randbytes(6000)})


def _broken(path: Path) -> None:
    """The package is whole, the sheet in it ends in the middle."""
    xlsx.write(path, [lay_out(_year(23, "ООО «Берег»"), Layout())])
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet][: len(parts[sheet]) // 2]
    with zipfile.ZipFile(path, "w") as target:
        for name, body in parts.items():
            target.writestr(zipfile.ZipInfo(name, _ZIP_DATE), body, zipfile.ZIP_DEFLATED)


SAMPLES = [
    Sample("ОСВ Ромашка-Трейд за 2023 год.xls", _subaccounts, "done", (72,)),
    Sample(
        "Оборотно-сальдовая ведомость за 1 полугодие 2024 г. АО Северный ветер.xlsx",
        _one_column,
        "done",
        (69,),
    ),
    Sample("осв_липовый_мёд_3кв2024_тыс_руб.xlsb", _thousands, "done", (26,)),
    Sample("ИП Незнамов, 9 месяцев 2024, только счета.xlsx", _texts, "done", (26,)),
    Sample("Тихая гавань ОСВ июль 2024 - июль 2025.xlsb", _pages, "done", (69,)),
    Sample("Берег, два квартала на двух листах.xlsx", _two_sheets, "done", (40, 28)),
    Sample("Два берега - ОСВ не сходится.xlsx", _unbalanced, "needs_check", (69,)),
    Sample("Луговое - нечитаемая сумма.xls", _unreadable_cell, "needs_check", (69,)),
    Sample("Карточка счета 51.xlsx", _card, "INVALID_DOCUMENT"),
    Sample("ОСВ по счету с договорами.xlsx", _one_account, "done", (35,)),
    Sample("Обороты счета за 1 квартал 2023.xls", _turnovers, "done", (12,)),
    Sample("Анализ счета, иерархия потеряна.xlsb", _analysis, "done", (10,)),
    Sample("ОСВ Северный ветер - БУ, НУ, ПР.xlsx", _indicators, "done", (21,)),
    Sample("ОСВ школы - КФО и КБК.xls", _budget, "done", (21,)),
    Sample("Степной ключ, счета из четырех цифр.xlsx", _four_digits, "needs_check", (3,)),
    Sample("Шахматка без заголовка.xlsx", _chess, "INVALID_DOCUMENT"),
    Sample("ОСВ под паролем.xls", _protected, "INVALID_FORMAT"),
    Sample("Повреждённый файл.xlsx", _broken, "UNREADABLE"),
]


def main() -> None:
    for sample in SAMPLES:
        sample.write(FOLDER / sample.name)


if __name__ == "__main__":
    main()
