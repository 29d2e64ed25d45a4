"""The bank's systems, played: uploads, repeated until they are confirmed, and a clerk who tries
failed files again. What they were told is the one log that no fault can touch.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any
from uuid import UUID

import httpx

CLIENT_SECONDS = 15.0
_LONGEST_PAUSE_SECONDS = 2.0
_TRIES = 60
_IMPATIENT = 0.15
_BURST_SECONDS = 0.7
_CLERK_SECONDS = 1.0
_PAGE = 200

_AGAIN = {409, 425, 429}


@dataclass(frozen=True)
class Expected:
    """What a quiet run gave for a sample: the file's status and code, and a digest of its lines."""

    status: str
    error_code: str | None
    digest: str


@dataclass(frozen=True)
class Try:
    """One request: when it was sent (Unix time), how long it took, what came back."""

    at: float
    seconds: float
    outcome: str


@dataclass
class Sending:
    """One document that was sent; `ref` is its client_ref and its Idempotency-Key."""

    ref: str
    sample: str
    due: float
    patience: int
    tries: list[Try] = field(default_factory=list)
    file_id: UUID | None = None

    @property
    def is_accepted(self) -> bool:
        """Whether the sender was told that the document is there."""
        return self.file_id is not None

    @property
    def begun(self) -> float:
        """When it was first sent."""
        return self.tries[0].at


def sendings(
    seed: int, samples: list[str], count: int, seconds: float, moments: Sequence[float]
) -> list[Sending]:
    """What will be sent, when (seconds from the start of the storm), and how patiently.

    Half of the documents come at any time; the others in bursts just before the `moments`, so that
    a fault finds work in every hand.
    """
    random = Random(f"{seed} documents")
    dues = [
        random.choice(moments) - random.uniform(0, _BURST_SECONDS)
        if number % 2
        else seconds * random.random()
        for number in range(count)
    ]
    return [
        Sending(
            ref=f"soak-{seed}-{number:06}",
            sample=random.choice(samples),
            due=max(0.0, due),
            patience=1 if random.random() < _IMPATIENT else _TRIES,
        )
        for number, due in enumerate(sorted(dues))
    ]


class Driver:
    """Sends documents to any of the cores."""

    def __init__(self, urls: list[str], samples: Mapping[str, Path]) -> None:
        self._urls = urls
        self._contents = {name: path.read_bytes() for name, path in samples.items()}
        limits = httpx.Limits(max_connections=200, max_keepalive_connections=20)
        self._http = httpx.AsyncClient(trust_env=False, timeout=CLIENT_SECONDS, limits=limits)
        self._turn = 0
        self.answers: Counter[str] = Counter()
        self.retries: Counter[str] = Counter()

    async def close(self) -> None:
        """Close the client."""
        await self._http.aclose()

    async def send(self, sending: Sending) -> None:
        """Send until it is confirmed, or patience ends."""
        pause = 0.1
        while len(sending.tries) < sending.patience and not sending.is_accepted:
            if sending.tries:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
            begun = time.time()
            outcome = await self._post(sending)
            sending.tries.append(Try(begun, time.time() - begun, outcome))
            self.answers[outcome] += 1
            if outcome.startswith("4") and int(outcome) not in _AGAIN:
                return

    async def _post(self, sending: Sending) -> str:
        name = sending.sample
        try:
            response = await self._http.post(
                f"{self._next_url()}/api/v1/files",
                files={"file": (name, self._contents[name])},
                data={"client_ref": sending.ref},
                headers={"Idempotency-Key": sending.ref},
            )
        except httpx.HTTPError as error:
            return type(error).__name__
        if response.is_success:
            sending.file_id = UUID(response.json()["file_id"])
        return str(response.status_code)

    async def storm(self, sendings: list[Sending]) -> None:
        """Send each when it is due, however the others fare."""
        begun = asyncio.get_running_loop().time()
        async with asyncio.TaskGroup() as group:
            for sending in sendings:
                wait = begun + sending.due - asyncio.get_running_loop().time()
                await asyncio.sleep(max(0.0, wait))
                group.create_task(self.send(sending))

    async def clerk(self, expected: Mapping[str, Expected]) -> None:
        """Try failed files again, for ever, where a quiet run of the sample would not fail so."""
        while True:
            await asyncio.sleep(_CLERK_SECONDS)
            try:
                for file in await self._failed():
                    if file["error_code"] != expected[file["original_name"]].error_code:
                        await self._retry(file)
            except httpx.HTTPError as error:
                self.retries[type(error).__name__] += 1

    async def _failed(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        url, after = self._next_url(), None
        while True:
            query = {"status": "ERROR", "limit": str(_PAGE)} | ({"after": after} if after else {})
            response = await self._http.get(f"{url}/api/v1/files", params=query)
            response.raise_for_status()
            page = response.json()
            found += page["items"]
            if (after := page["next"]) is None:
                return found

    async def _retry(self, file: Mapping[str, Any]) -> None:
        url = f"{self._next_url()}/api/v1/files/{file['id']}/attempts"
        response = await self._http.post(url)
        self.retries[f"{file['error_code']}: {response.status_code}"] += 1

    def _next_url(self) -> str:
        self._turn += 1
        return self._urls[self._turn % len(self._urls)]
