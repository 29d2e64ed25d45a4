"""Field types that several messages share, each as strict as its JSON Schema."""

from datetime import UTC, datetime
from typing import Annotated

import msgspec
from msgspec import Meta

# `\Z`, not `$`: Python's `$` would let a trailing newline through.
Version = Annotated[str, Meta(pattern=r"^1\.[0-9]+\Z")]
Id = Annotated[
    str,
    Meta(pattern=r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\Z"),
]
Instant = Annotated[
    str,
    Meta(
        pattern=r"^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]([01][0-9]|2[0-3]):[0-5][0-9]:([0-5][0-9]|60)"
        r"(\.[0-9]+)?([Zz]|[+-]([01][0-9]|2[0-3]):[0-5][0-9])\Z"
    ),
]
NonEmpty = Annotated[str, Meta(min_length=1)]
PositiveInt = Annotated[int, Meta(ge=1, le=2**31 - 1)]

SCHEMA_VERSION = "1.0"

_FIRST = datetime(1, 1, 1, tzinfo=UTC)
_LAST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)


class ObjectRef(msgspec.Struct, frozen=True):
    """Where an object lies in S3."""

    bucket: NonEmpty
    key: NonEmpty


class ServiceInfo(msgspec.Struct, frozen=True):
    """Which service speaks."""

    name: NonEmpty
    version: NonEmpty


def parse_instant(text: str) -> datetime:
    """Turn an RFC 3339 date-time into an aware UTC datetime.

    Raises ValueError where the text names no instant. Python knows neither leap seconds nor years
    beyond 9999: a leap second is read as the second before it, and an instant that falls off the
    calendar in UTC as the first or the last one.
    """
    seconds = text[17:19]
    if seconds == "60":
        text = f"{text[:17]}59{text[19:]}"
    moment = datetime.fromisoformat(text.upper())
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        return _FIRST if moment.year == 1 else _LAST


def format_instant(moment: datetime) -> str:
    """Write an aware datetime as RFC 3339 in UTC, with `Z`."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
