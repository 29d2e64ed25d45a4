"""The page beside the lines, drawn from the raw answer of the scanning system: words and a picture.

The file itself is not opened here: a document is read in a child process of a service, once.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

import msgspec
import structlog

from armka.contract.vocabulary import Column
from armka.core.database.pool import Database, Record
from armka.core.database.queries import load
from armka.core.errors import PageNotKept
from armka.core.review.grids import shown
from armka.objects.store import ObjectMissing, ObjectStore, ObjectTooLarge

log = structlog.get_logger(__name__)
SQL = load(__package__)

_ANSWERS_AT_HAND = 3
_A4 = (2100, 2970)


class _Word(msgspec.Struct, frozen=True, gc=False):
    text: str
    box: tuple[float, float, float, float]
    confidence: float | None = None


class _Page(msgspec.Struct, frozen=True):
    number: int
    width: int
    height: int
    words: list[_Word] = []
    preview: msgspec.Raw = msgspec.Raw(b"null")  # judged by itself: a bad one spoils no words


class _Picture(msgspec.Struct, frozen=True):
    media_type: str
    data: bytes


class _Answer(msgspec.Struct, frozen=True):
    pages: list[_Page]


_PICTURES = {"image/jpeg": b"\xff\xd8\xff", "image/png": b"\x89PNG\r\n\x1a\n"}
_answers = msgspec.json.Decoder(_Answer)
_pictures = msgspec.json.Decoder(_Picture | None)


class PageSources:
    """Draws pages from the raw answers of the scanning system; the last few are at hand."""

    def __init__(self, database: Database, objects: ObjectStore, max_bytes: int) -> None:
        self._database = database
        self._objects = objects
        self._max_bytes = max_bytes
        self._at_hand: OrderedDict[UUID, dict[int, _Page]] = OrderedDict()

    async def page(
        self, document: Record, number: int, lines: Sequence[dict[str, Any]]
    ) -> dict[str, Any]:
        """A page: its size, its words and whether there is a picture of it. Boxes are left, top,
        right, bottom in shares of the page.

        Where the answer is gone, or of another kind than ours, the values of `lines` are its words.
        Raises PageNotKept where there are none either, StoreUnavailable.
        """
        found = (await self._pages(document["current_recognition_job_id"])).get(number)
        if found is not None:
            words = [_in_shares(word, found) for word in found.words if word.text.strip()]
            size, has_picture = (found.width, found.height), _picture(found) is not None
        else:
            words = list(_values_on(number, lines))
            size, has_picture = _A4, False
        if not words:
            raise PageNotKept(document["stored_file_id"], number)
        return {
            "page": number,
            "width": size[0],
            "height": size[1],
            "words": words,
            "has_picture": has_picture,
        }

    async def picture(self, document: Record, number: int) -> tuple[str, bytes]:
        """The picture of a page, its media type first; raises PageNotKept, StoreUnavailable."""
        page = (await self._pages(document["current_recognition_job_id"])).get(number)
        found = _picture(page) if page is not None else None
        if found is None:
            raise PageNotKept(document["stored_file_id"], number)
        return found.media_type, found.data

    async def _pages(self, job_id: UUID) -> dict[int, _Page]:
        if job_id not in self._at_hand:
            self._at_hand[job_id] = await self._read(job_id)
            while len(self._at_hand) > _ANSWERS_AT_HAND:
                self._at_hand.popitem(last=False)
        self._at_hand.move_to_end(job_id)
        return self._at_hand[job_id]

    async def _read(self, job_id: UUID) -> dict[int, _Page]:
        async with self._database.connection() as connection:
            row = await connection.fetchrow(SQL.raw_answer, job_id)
        if row is None or row["bucket"] != self._objects.bucket:
            return {}
        try:
            body = await self._objects.get(row["key"], limit=self._max_bytes)
            answer = await asyncio.to_thread(_answers.decode, body)
        except (ObjectMissing, ObjectTooLarge, msgspec.DecodeError) as error:
            log.info("no page can be drawn of the raw answer", job_id=str(job_id), why=str(error))
            return {}
        return {page.number: page for page in answer.pages if page.width > 0 and page.height > 0}


def _picture(page: _Page) -> _Picture | None:
    """The picture that came with a page, where it is one that browsers may be given."""
    try:
        found = _pictures.decode(page.preview)
    except msgspec.DecodeError:
        return None
    begins = _PICTURES.get(found.media_type) if found else None
    return found if found and begins and found.data.startswith(begins) else None


def _in_shares(word: _Word, page: _Page) -> dict[str, Any]:
    left, top, right, bottom = word.box
    box = (left / page.width, top / page.height, right / page.width, bottom / page.height)
    return {
        "text": word.text,
        "box": [round(min(max(share, 0.0), 1.0), 5) for share in box],
        "confidence": word.confidence,
    }


def _values_on(number: int, lines: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The values that were read on a page, as its words."""
    for line in lines:
        if line["page"] != number:
            continue
        for which, box in enumerate(line["boxes"] or []):
            text = shown(line["values"][which])
            if box is not None and text:
                confidence = (line["confidence"] or [None] * len(Column))[which]
                yield {"text": text, "box": box, "confidence": confidence}
