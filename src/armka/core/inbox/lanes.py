"""Parts of large batches that are written side by side."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Generic, TypeVar

T = TypeVar("T")

LANES = 2
# One part is written while the next one is ready.
_PARTS_OF_A_LANE = 2


class Lanes(Generic[T]):
    """Lanes that work beside each other and beside their caller; within a lane one part comes after
    the other, in the order in which they were begun.
    """

    def __init__(self, work: Callable[[T], Awaitable[None]]) -> None:
        self._lanes = [_Lane(work) for _ in range(LANES)]

    async def begin(self, parts: Iterable[T]) -> None:
        """Hand each lane its part; waits where a lane is full."""
        for lane, part in zip(self._lanes, parts, strict=True):
            await lane.begin(part)

    async def emptied(self) -> None:
        """Wait until everything that was begun has ended; a cancelled wait ends it."""
        await asyncio.gather(*(lane.last for lane in self._lanes if lane.last is not None))


class _Lane(Generic[T]):
    def __init__(self, work: Callable[[T], Awaitable[None]]) -> None:
        self._work = work
        self._room = asyncio.Semaphore(_PARTS_OF_A_LANE)
        self.last: asyncio.Task[None] | None = None

    async def begin(self, part: T) -> None:
        await self._room.acquire()
        self.last = asyncio.create_task(self._follow(self.last, part))

    async def _follow(self, previous: asyncio.Task[None] | None, part: T) -> None:
        try:
            if previous is not None:
                await previous
            await self._work(part)
        finally:
            self._room.release()
