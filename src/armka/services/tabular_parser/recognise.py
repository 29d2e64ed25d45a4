"""The handler of tabular-parser: one file becomes trial balances, or a refusal that a person
understands.
"""

import gc
from collections.abc import Iterator
from time import perf_counter

from armka.contract.result import Document
from armka.contract.vocabulary import ErrorCode, FileType
from armka.osv import trial_balance
from armka.osv.grid import Grid
from armka.osv.reports import NotTrialBalance, SheetNotRead
from armka.sdk.handler import Recognition, Refused, Source
from armka.services.tabular_parser.limits import Corrupt, Encrypted, NotDelimited, TooLarge
from armka.services.tabular_parser.sniff import Content, of_members, sniff

_TYPES = {
    FileType.XLS: Content.XLS,
    FileType.XLSX: Content.XLSX,
    FileType.XLSB: Content.XLSB,
}
_DRESSED_AS_XLS = (Content.HTML, Content.SPREADSHEETML, Content.TEXT)
_SAVE_AGAIN = "Откройте файл в Excel, сохраните его как «Книга Excel (.xlsx)» и загрузите снова."
_UPLOAD_OSV = "Загрузите оборотно-сальдовую ведомость, сохраненную из 1С в формате XLSX или XLS."


def recognise(source: Source) -> Recognition:
    """Read the trial balances (ОСВ) of a spreadsheet; raises Refused where there is none to read.

    It may take memory and time without bound on hostile input, so it belongs into a child process
    with limits on both. The cyclic garbage collector rests meanwhile: millions of cells make it run
    for nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return _recognise(source)
    except Encrypted:
        raise _encrypted() from None
    except NotDelimited:
        raise _foreign(Content.TEXT, Content.XLS) from None
    except Corrupt as error:
        raise Refused(
            ErrorCode.UNREADABLE,
            f"Файл поврежден, прочитать его нельзя. {_SAVE_AGAIN} ({error.detail[:200]})",
        ) from error
    except TooLarge as error:
        raise Refused(
            ErrorCode.UNREADABLE,
            f"Файл слишком велик, чтобы быть ведомостью: {error.detail}. {_UPLOAD_OSV}",
        ) from error
    finally:
        if was_enabled:
            gc.enable()


def _recognise(source: Source) -> Recognition:
    started = perf_counter()
    outcome = _Sheets()
    for grid in grids(source):
        outcome.take(grid)
    if not outcome.documents:
        raise outcome.refusal()
    metrics: dict[str, object] = {
        "documents": len(outcome.documents),
        "lines": sum(len(document.lines) for document in outcome.documents),
        "parse_seconds": round(perf_counter() - started, 3),
    }
    return Recognition(outcome.documents, outcome.warnings, metrics)


def grids(source: Source) -> Iterator[Grid]:
    """The file's sheets, by the reader of what it is; raises Refused where that is not what it was
    said to be.
    """
    expected = _TYPES.get(source.file_type)
    if expected is None:
        raise Refused(
            ErrorCode.UNSUPPORTED_FORMAT,
            f"Тип {source.file_type} здесь не читается, только XLS, XLSX и XLSB. {_UPLOAD_OSV}",
        )
    data = source.path.read_bytes()
    content = sniff(data)
    if content is Content.ZIP:
        return _zipped(data, expected)
    if expected is Content.XLS and content in _DRESSED_AS_XLS:
        return _undressed(data, content)
    _require(content, expected)
    # Each reader is imported for the files that need it: a child process starts for one file.
    from armka.services.tabular_parser import xls  # noqa: PLC0415

    return xls.read(data)


def _undressed(data: bytes, content: Content) -> Iterator[Grid]:
    """What is no Excel file and opens in Excel as one, if its name ends in `.xls`."""
    if content is Content.HTML:
        from armka.services.tabular_parser import html_table  # noqa: PLC0415

        return html_table.read(data)
    if content is Content.SPREADSHEETML:
        from armka.services.tabular_parser import spreadsheet_ml  # noqa: PLC0415

        return spreadsheet_ml.read(data)
    from armka.services.tabular_parser import delimited_text  # noqa: PLC0415

    return delimited_text.read(data)


def _zipped(data: bytes, expected: Content) -> Iterator[Grid]:
    from armka.services.tabular_parser import xlsb, xlsx  # noqa: PLC0415
    from armka.services.tabular_parser.zip_container import ZipContainer  # noqa: PLC0415

    container = ZipContainer(data)
    content = of_members(container.names)
    _require(content, expected)
    return xlsx.read(container) if content is Content.XLSX else xlsb.read(container)


def _require(content: Content, expected: Content) -> None:
    if content is expected:
        return
    if content is Content.EMPTY:
        raise Refused(ErrorCode.UNREADABLE, f"Файл пуст: в нем нет данных. {_UPLOAD_OSV}")
    if content is Content.ENCRYPTED:
        raise _encrypted()
    if content is Content.UNKNOWN:
        raise Refused(
            ErrorCode.UNREADABLE,
            f"Файл поврежден: по содержимому это не {expected.value}. {_SAVE_AGAIN}",
        )
    raise _foreign(content, expected)


def _foreign(content: Content, expected: Content) -> Refused:
    return Refused(
        ErrorCode.INVALID_FORMAT,
        f"Содержимое не соответствует типу файла: это {content.value}, а не {expected.value}. "
        f"{_SAVE_AGAIN}",
    )


def _encrypted() -> Refused:
    return Refused(
        ErrorCode.INVALID_FORMAT,
        "Файл защищен паролем. Снимите пароль и защиту книги (Файл → Сведения → Защита книги) "
        "и загрузите файл снова.",
    )


class _Sheets:
    """What the sheets gave so far, and why the others gave nothing."""

    def __init__(self) -> None:
        self.documents: list[Document] = []
        self.warnings: list[str] = []
        self._unread: list[tuple[str, SheetNotRead]] = []
        self._filled = False

    def take(self, grid: Grid) -> None:
        if grid.hidden:
            self.warnings.append(f"Лист «{grid.sheet}» скрыт и не прочитан")
            return
        if not grid.rows:
            return
        self._filled = True
        try:
            reading = trial_balance.read(grid)
        except SheetNotRead as error:
            self._unread.append((grid.sheet, error))
            self.warnings.append(f"Лист «{grid.sheet}» не прочитан: {error.explanation}")
        else:
            self.documents.extend(reading.documents)
            self.warnings.extend(reading.warnings)

    def refusal(self) -> Refused:
        """Why the whole file is refused: the sheet that came nearest to a trial balance says it."""
        if not self._filled:
            return Refused(
                ErrorCode.INVALID_DOCUMENT, f"В книге нет данных на видимых листах. {_UPLOAD_OSV}"
            )
        sheet, error = min(self._unread, key=lambda unread: _distance(unread[1]))
        code = (
            ErrorCode.INVALID_DOCUMENT
            if isinstance(error, NotTrialBalance)
            else ErrorCode.NOT_IMPLEMENTED
        )
        return Refused(code, f"Лист «{sheet}»: {error.explanation}. {_UPLOAD_OSV}")


def _distance(error: SheetNotRead) -> int:
    if isinstance(error, NotTrialBalance):
        return 2 if error.looks_like else 3
    return 0
