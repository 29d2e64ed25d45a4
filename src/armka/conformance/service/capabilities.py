"""What a service declares of itself: it decides which checks apply, and what they expect."""

import tomllib
from enum import StrEnum
from pathlib import Path

import msgspec

from armka.contract.vocabulary import FileType, Pipeline


class CapabilitiesInvalid(Exception):
    """The capabilities file does not say what it should."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class AttemptSource(StrEnum):
    """Where the attempt of an invalid request without one comes from (OQ-71)."""

    HEADER = "header"
    ONE = "one"


class Capabilities(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The capabilities file, in TOML. Everything may be left out.

    `name`: the service's own, which its envelopes must bear, and the name of its durable.
    `file_types`: what it reads, usually every type of its pipeline. `missing_attempt`: see OQ-71;
    left out, either variant is accepted and told. `detects_encryption`: whether it can tell an
    encrypted document from a broken one. `repeats_until_answered`: whether it asks for an answer to
    its results, and sends them again without one (I8). `burst`: how many requests it is sent at
    once.
    """

    name: str | None = None
    file_types: tuple[FileType, ...] | None = None
    missing_attempt: AttemptSource | None = None
    detects_encryption: bool = True
    repeats_until_answered: bool = True
    burst: int = 500

    def reads(self, pipeline: Pipeline) -> tuple[FileType, ...]:
        """The file types that it reads."""
        if self.file_types is not None:
            return self.file_types
        return tuple(one for one in FileType if one.pipeline is pipeline)


def read(path: Path) -> Capabilities:
    """Read a capabilities file; raises CapabilitiesInvalid."""
    try:
        return msgspec.convert(tomllib.loads(path.read_text("utf-8")), Capabilities, strict=True)
    except (OSError, ValueError) as error:
        raise CapabilitiesInvalid(path, str(error)) from None
