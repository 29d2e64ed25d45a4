"""Documents on disk: a folder each, every file in it whole or absent.

documents/ID/record.json   what is known of it
documents/ID/source        the document, until its end
documents/ID/pages/N.json  the pages read so far, until its end
documents/ID/answer.json   the answer
uploads/                   what is being received; emptied at the start
"""

import fcntl
import os
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import msgspec
import structlog

from armka.services.scanning_system.records import Record

log = structlog.get_logger(__name__)


class FolderTaken(Exception):
    """Another process works in the folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"{folder} is in use by another scanning system: give each its own folder")
        self.folder = folder


class Store:
    """The folder of one scanning system; blocking, for threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._documents = folder / "documents"
        self._uploads = folder / "uploads"
        self._lock: int | None = None
        self._saving = threading.Lock()

    def open(self) -> list[Record]:
        """Take the folder and read every record in it, oldest first; raises FolderTaken."""
        self._documents.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(self._folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise FolderTaken(self._folder) from None
        shutil.rmtree(self._uploads, ignore_errors=True)
        self._uploads.mkdir()
        return sorted(self._records(), key=lambda record: record.created)

    def close(self) -> None:
        """Let go of the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def new_upload(self) -> Path:
        """Where a document may be received."""
        return self._uploads / uuid4().hex

    def add(self, record: Record, upload: Path) -> None:
        """Keep a received document: once this returns, a restart finds it."""
        made = self._uploads / f"{record.document_id}.new"
        (made / "pages").mkdir(parents=True)
        upload.rename(made / "source")
        _sync(made / "source")
        _write(made / "record.json", msgspec.json.encode(record))
        made.rename(self._of(record.document_id))
        _sync(self._documents)

    def save(self, record: Record) -> None:
        """Write down what changed."""
        with self._saving:  # two may write down the same record, the later one as it is then
            _write(self._of(record.document_id) / "record.json", msgspec.json.encode(record))

    def source(self, document_id: str) -> Path:
        """The document."""
        return self._of(document_id) / "source"

    def save_page(self, document_id: str, number: int, answer: bytes) -> None:
        """Keep a page that was read."""
        _write(self._of(document_id) / "pages" / f"{number}.json", answer)

    def page_numbers(self, document_id: str) -> set[int]:
        """The pages read so far."""
        return {int(path.stem) for path in (self._of(document_id) / "pages").glob("*.json")}

    def page(self, document_id: str, number: int) -> bytes:
        """A page that was read."""
        return (self._of(document_id) / "pages" / f"{number}.json").read_bytes()

    def save_answer(self, document_id: str, answer: bytes) -> None:
        """Keep the answer."""
        _write(self._of(document_id) / "answer.json", answer)

    def answer(self, document_id: str) -> Path:
        """The answer."""
        return self._of(document_id) / "answer.json"

    def strip(self, document_id: str) -> None:
        """Remove what is of no use after the end: the document itself, its pages one by one."""
        self.source(document_id).unlink(missing_ok=True)
        shutil.rmtree(self._of(document_id) / "pages", ignore_errors=True)

    def remove(self, document_id: str) -> None:
        """Forget a document altogether."""
        shutil.rmtree(self._of(document_id), ignore_errors=True)

    def size(self, document_id: str) -> int:
        """The bytes that a document takes."""
        files = self._of(document_id).rglob("*")
        return sum(path.stat().st_size for path in files if path.is_file())

    def _of(self, document_id: str) -> Path:
        return self._documents / document_id

    def _records(self) -> Iterator[Record]:
        for folder in self._documents.iterdir():
            try:
                yield msgspec.json.decode((folder / "record.json").read_bytes(), type=Record)
            except (OSError, msgspec.DecodeError, msgspec.ValidationError) as error:
                log.error(  # noqa: TRY400 - the message says it all
                    "a document's record cannot be read and is left aside",
                    document=folder.name,
                    error=str(error),
                )


def _write(path: Path, data: bytes) -> None:
    new = path.with_name(f"{path.name}.new")
    with new.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    new.rename(path)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
