"""An answer through the handler, as a child process would run it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from armka.contract.vocabulary import FileType
from armka.sdk.handler import Answer, Recognition, Refused, Source
from armka.services.scan_gateway.recognise import recognise


def read(folder: Path, answer: dict[str, Any] | bytes, document: str = "doc-1") -> Recognition:
    """Recognise an answer."""
    path = folder / "raw.json"
    path.write_bytes(answer if isinstance(answer, bytes) else json.dumps(answer).encode())
    return recognise(
        Source(
            path=folder / "source.pdf",
            file_type=FileType.PDF,
            original_name="скан.pdf",
            sha256="0" * 64,
            size_bytes=1,
            deadline=datetime.now(UTC) + timedelta(minutes=5),
            answer=Answer(path, document),
        )
    )


def refusal(folder: Path, answer: dict[str, Any] | bytes) -> Refused:
    """The refusal that an answer ends in."""
    with pytest.raises(Refused) as refused:
        read(folder, answer)
    return refused.value
