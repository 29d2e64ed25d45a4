"""Trial balances of every family as an office program prints them: LibreOffice, on paper of A4.

`PYTHONPATH=src python -m tests.pages.office` writes them anew; it needs LibreOffice. Tests need the
files alone.
"""

import subprocess
import tempfile
from pathlib import Path
from random import Random

import openpyxl
from openpyxl.styles import Border, Side
from openpyxl.utils import get_column_letter
from openpyxl.worksheet.worksheet import Worksheet

from armka.contract.vocabulary import FileType
from tests.books.recognised import WRITERS
from tests.books.report_sheets import Dress
from tests.books.reports import FAMILIES, Report

FOLDER = Path(__file__).parent / "samples" / "office"
NAMES = dict(
    zip(
        FAMILIES,
        (
            "subconto-two-levels", "subconto", "indicators", "quantities", "currencies",
            "months-in-rows", "months-in-columns", "turnovers", "turnovers-upp", "analysis",
            "subconto-upp", "budget", "0420521", "four-digits",
        ),
        strict=True,
    )
)  # fmt: skip
_A4 = 9
_WIDEST = 40
_HEADER_CELLS = 3
_RUSSIAN = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Setup/L10N"><prop oor:name="ooSetupSystemLocale" oor:op="fuse">
<value>ru-RU</value></prop></item></oor:items>
"""


def report(family: str) -> Report:
    """What is printed in the file of a family."""
    return FAMILIES[family](Random(1))


def load(family: str) -> bytes:
    """Its PDF."""
    return (FOLDER / f"{NAMES[family]}.pdf").read_bytes()


def _for_paper(page: Worksheet) -> None:
    """A sheet as somebody makes it fit for print: as wide as its texts, in borders, landscape."""
    cells = [cell for row in page.iter_rows() for cell in row]
    rows = [[cell for cell in row if cell.value is not None] for row in page.iter_rows()]
    first = next(row[0].row for row in rows if len(row) >= _HEADER_CELLS)
    last = max(cell.row for cell in cells if isinstance(cell.value, int | float))
    line = Side(style="thin")
    widths: dict[int, int] = {}
    for cell in cells:
        if not first <= cell.row:
            continue
        if cell.row <= last:
            cell.border = Border(left=line, right=line, top=line, bottom=line)
        if cell.value is not None:
            is_number = isinstance(cell.value, int | float)
            shown = f"{cell.value:,.2f}" if is_number else str(cell.value)[:_WIDEST]
            wide = len(shown) + 3 + 2 * round(cell.alignment.indent)
            widths[cell.column] = max(widths.get(cell.column, 0), wide)
    for column, width in widths.items():
        page.column_dimensions[get_column_letter(column)].width = width
    page.page_setup.orientation = "landscape"
    page.page_setup.paperSize = _A4
    page.page_setup.fitToWidth, page.page_setup.fitToHeight = 1, 0
    page.sheet_properties.pageSetUpPr.fitToPage = True


def main() -> None:
    """Lay the books out, and have them printed."""
    with tempfile.TemporaryDirectory() as folder:
        profile = Path(folder) / "profile"
        (profile / "user").mkdir(parents=True)
        (profile / "user" / "registrymodifications.xcu").write_text(_RUSSIAN)
        paths = []
        for family, name in NAMES.items():
            paths.append(Path(folder) / f"{name}.xlsx")
            WRITERS[FileType.XLSX](paths[-1], [report(family).sheet(Dress())])
            book = openpyxl.load_workbook(paths[-1])
            _for_paper(book.active)
            book.save(paths[-1])
        subprocess.run(
            ["soffice", f"-env:UserInstallation={profile.as_uri()}", "--headless",
             "--convert-to", "pdf", "--outdir", FOLDER, *paths],
            check=True,
        )  # fmt: skip


if __name__ == "__main__":
    main()
