"""A file through the handler, and a recognised document beside the truth."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from armka.contract.fields import ServiceInfo, format_instant
from armka.contract.result import Document
from armka.contract.vocabulary import FileType, LineKind
from armka.sdk.frames import Task
from armka.sdk.handler import Recognition, Source
from armka.services.tabular_parser import NAME, VERSION
from armka.services.tabular_parser.recognise import recognise
from tests.books import xls, xlsb, xlsx
from tests.books.ledger import Account, Ledger, Six
from tests.books.sheets import Sheet

WRITERS: dict[FileType, Callable[[Path, list[Sheet]], None]] = {
    FileType.XLS: xls.write,
    FileType.XLSX: xlsx.write,
    FileType.XLSB: xlsb.write,
}


def source_of(path: Path, file_type: FileType | None = None) -> Source:
    """The file as the SDK hands it to the handler; its type is by its extension where none is
    given.
    """
    data = path.read_bytes()
    return Source(
        path=path,
        file_type=file_type or FileType(path.suffix[1:].upper()),
        original_name=path.name,
        sha256=hashlib.sha256(data).hexdigest(),
        size_bytes=len(data),
        deadline=datetime.now(UTC) + timedelta(minutes=5),
    )


def task_of(source: Source) -> Task:
    """The file as a service hands it to its child process."""
    return Task(
        path=str(source.path),
        file_type=source.file_type,
        original_name=source.original_name,
        sha256=source.sha256,
        size_bytes=source.size_bytes,
        deadline=format_instant(source.deadline),
        job_id=str(uuid4()),
        file_id=str(uuid4()),
        service=ServiceInfo(NAME, VERSION),
    )


def through(folder: Path, file_type: FileType, *sheets: Sheet) -> Recognition:
    """Write the sheets as a file of this type and recognise it."""
    path = folder / f"book.{file_type.lower()}"
    WRITERS[file_type](path, list(sheets))
    return recognise(source_of(path))


Row = tuple[str | None, str, int, bool, list[str | None]]


def truth(ledger: Ledger) -> list[Row]:
    """The ledger's accounts as lines: code, name, level, off balance, six values."""
    return [_row(account) for account in (*ledger.accounts, *ledger.off_balance)]


def _row(account: Account) -> Row:
    return (account.code, account.name, account.level, account.off_balance, texts(account.values))


def texts(values: Six) -> list[str | None]:
    return [None if not value else text(value) for value in values]


def text(hundredths: int) -> str:
    sign = "-" if hundredths < 0 else ""
    return f"{sign}{abs(hundredths) // 100}.{abs(hundredths) % 100:02d}"


def lines(document: Document) -> list[Row]:
    """The document's account lines, told the same way."""
    return [
        (line.account, line.name, line.level, line.off_balance, line.values)
        for line in document.lines
        if line.kind is LineKind.ACCOUNT
    ]


def total(document: Document) -> list[str | None]:
    return next(line.values for line in document.lines if line.kind is LineKind.TOTAL)
