"""For the tests of a service's author: a handler on a file, without servers.

How the service behaves on the wire is `armka conform service`'s to judge.
"""

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

from armka.contract.codec import decode_result
from armka.contract.fields import format_instant
from armka.contract.result import ResultFile
from armka.contract.vocabulary import FileType
from armka.sdk.child import carry_out
from armka.sdk.frames import Broken, Declined, Read, Task
from armka.sdk.handler import Refused
from armka.sdk.service import Service

_DEADLINE = timedelta(minutes=10)


class HandlerFailed(Exception):
    """The handler raised, or returned what is no result file: the core would be told
    UNKNOWN_ERROR.
    """

    def __init__(self, where: str, detail: str) -> None:
        super().__init__(f"{where}: {detail}")
        self.where = where
        self.detail = detail


def recognised(service: Service, path: Path, file_type: FileType | None = None) -> ResultFile:
    """Have the handler read a file; the result file, checked as the core checks it.

    `file_type`: by the file's name, where it is not given. Raises Refused as the handler does, and
    HandlerFailed. The handler runs in this process, without its limits.
    """
    content = path.read_bytes()
    task = Task(
        path=str(path),
        file_type=file_type or FileType(path.suffix.removeprefix(".").upper()),
        original_name=path.name,
        sha256=hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
        deadline=format_instant(datetime.now(UTC) + _DEADLINE),
        job_id=str(uuid4()),
        file_id=str(uuid4()),
        service=service.info,
    )
    report, result = carry_out(service.handler, task)
    match report:
        case Read():
            return decode_result(result)
        case Declined(code, message):
            raise Refused(code, message)
        case Broken(where, detail):
            raise HandlerFailed(where, detail)
        case _:
            raise HandlerFailed("the handler", "it took all memory")
