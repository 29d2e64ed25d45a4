"""A circuit breaker: while ИС Сканирование is away, only one at a time tries whether it is back."""

import asyncio
import contextlib
import random
import time
from collections.abc import AsyncIterator

import structlog

from armka.services.scan_gateway.scanning import Unavailable

log = structlog.get_logger(__name__)

_FIRST_PAUSE_SECONDS = 1.0


class Circuit:
    """Closed, everybody passes. After so many failures in a row it is open: everybody waits.

    A pause later one passes as a trial. If it fails, the next pause is twice as long, up to
    `longest_pause`; if it succeeds, everybody passes again. Whoever waits loses nothing but time.
    """

    def __init__(self, failures: int, longest_pause: float) -> None:
        self._threshold = failures
        self._longest_pause = longest_pause
        self._failures = 0
        self._closed_from = 0.0
        self._on_trial = False
        self._news = asyncio.Event()

    @property
    def is_open(self) -> bool:
        """Whether ИС Сканирование is left alone now."""
        return self._failures >= self._threshold

    @contextlib.asynccontextmanager
    async def passing(self) -> AsyncIterator[bool]:
        """Wait until the way is free, and learn how it went; True: as a trial, so be quick.

        Only Unavailable is a failure: any other answer comes from somebody who is there.
        """
        trial = await self._enter()
        try:
            yield trial
        except Unavailable as failure:
            self._failed(failure)
            raise
        except Exception:
            self._succeeded()
            raise
        else:
            self._succeeded()
        finally:
            if trial:
                self._on_trial = False
                self._tell()

    async def _enter(self) -> bool:
        while self.is_open:
            if self._on_trial:
                await self._news.wait()
                continue
            pause = self._closed_from - time.monotonic()
            if pause <= 0:
                self._on_trial = True
                return True
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._news.wait()
        return False

    def _failed(self, failure: Unavailable) -> None:
        self._failures += 1
        if not self.is_open:
            return
        doubled = _FIRST_PAUSE_SECONDS * 2 ** min(self._failures - self._threshold, 30)
        pause = min(doubled, self._longest_pause) * random.uniform(0.5, 1.0)
        self._closed_from = time.monotonic() + pause
        log.warning(
            "the scanning system is away", failures=self._failures, pause=pause, why=str(failure)
        )
        self._tell()

    def _succeeded(self) -> None:
        if self.is_open:
            log.info("the scanning system is back", failures=self._failures)
        self._failures = 0
        self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()
