"""What the service asks of its child processes, and what they say of a document first."""

from typing import Literal

import msgspec

Kind = Literal["PDF", "PNG", "JPG"]


class Limits(msgspec.Struct, frozen=True):
    """From the settings, handed to the child with each call."""

    max_pages: int
    max_pixels: int
    tessdata: str | None  # the folder of rus.traineddata; None: there is no OCR here


class InspectCall(msgspec.Struct, frozen=True):
    """Look whether the document can be read at all."""

    path: str
    kind: Kind
    limits: Limits


class Inspected(msgspec.Struct, frozen=True):
    """It can, and has so many pages."""

    pages: int


class ReadCall(msgspec.Struct, frozen=True):
    """Read a page; numbers count from 1."""

    path: str
    kind: Kind
    number: int
    limits: Limits
