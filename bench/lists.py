"""Pages over very many files: each is asked for again and again, from a core of its own."""

import secrets
import time
from dataclasses import dataclass
from datetime import UTC, datetime

import httpx

from armka.core.database.queries import load
from bench.contest import Driver
from bench.report import Floor, percentile, spread, table
from bench.stage import RoundFailed, Stage

SQL = load(__package__, "lists.sql")
_STEP = 100_000
_SMALL, _LARGE = 100, 10_000
_MOST_MS = 300.0
_REQUESTS = 20
_LAYERS = ("lay_objects", "lay_files", "lay_jobs", "lay_events", "lay_documents")
_TOKEN = secrets.token_urlsafe()
_DOCUMENTS = "/console/documents"


@dataclass(frozen=True)
class Page:
    """What is asked for. The pages of lists have a floor."""

    what: str
    path: str
    is_list: bool = True


@dataclass(frozen=True)
class Times:
    """Milliseconds of a page's answers, round by round, and its bytes."""

    page: Page
    rounds: list[list[float]]
    size: int

    def at(self, share: float) -> list[float]:
        """A percentile of each round."""
        return [percentile(times, share) for times in self.rounds]


async def measure(place: Stage, files: int, rounds: int) -> list[Times]:
    """Lay so many files, and ask for every page of them."""
    async with place.round() as connection:
        await _lay(connection, files)
        core = await place.core(API_TOKEN=_TOKEN)
        async with httpx.AsyncClient(
            base_url=core.url,
            headers={"Authorization": f"Bearer {_TOKEN}"},
            timeout=60,
            trust_env=False,
        ) as http:
            return [await _asked(http, page, rounds) for page in await _pages(connection, files)]


async def _lay(connection: Driver, files: int) -> None:
    now = datetime.now(UTC)
    await connection.execute(SQL.lay_settings)
    for first in range(1, files + 1, _STEP):
        last = min(first + _STEP - 1, files)
        for layer in _LAYERS:
            await connection.execute(getattr(SQL, layer), first, last, now, timeout=600)
        print(f"{last:>12,} files are laid", flush=True)  # noqa: T201
    await connection.execute(SQL.lay_lines, 1, _SMALL)
    await connection.execute(SQL.lay_lines, 2, _LARGE)
    await connection.execute(SQL.settle, timeout=600)


async def _pages(connection: Driver, files: int) -> list[Page]:
    small, large, failed = [await connection.fetchval(SQL.id_of_file, n) for n in (1, 2, 8)]
    half = await connection.fetchval(SQL.moment_of_file, files // 2)
    return [
        Page("a page without rows", f"{_DOCUMENTS}?client=nobody"),
        Page("documents", _DOCUMENTS),
        Page("of the largest client", f"{_DOCUMENTS}?client=BIG"),
        Page("of a small client", f"{_DOCUMENTS}?client=C-77"),
        Page("errors", f"{_DOCUMENTS}?status=ERROR"),
        Page("under way", f"{_DOCUMENTS}?status=PROCESSING"),
        Page("a frequent name", f"{_DOCUMENTS}?name=2019"),
        Page("a rare name", f"{_DOCUMENTS}?name=организация 4321"),
        Page("a name that is none", f"{_DOCUMENTS}?name=zzz"),
        Page("an organisation that is none", f"{_DOCUMENTS}?organisation=zzz"),
        Page("a rare organisation", f"{_DOCUMENTS}?organisation=организация 4321"),
        Page("a period that is none", f"{_DOCUMENTS}?period_from=1999-01-01&period_to=1999-12-31"),
        Page("the largest client's, a name", f"{_DOCUMENTS}?client=BIG&name=zzz"),
        Page("API: in the middle of all", f"/api/v1/files?created_to={half:%Y-%m-%dT%H:%M:%SZ}"),
        Page("API: jobs", "/api/v1/jobs"),
        Page("API: jobs that are errors", "/api/v1/jobs?status=error"),
        Page("clients", "/console/clients?ref=C-4"),
        Page("a client's documents", "/console/clients?ref=C-77"),
        Page("a file", f"/console/files/{small}", is_list=False),
        Page("a failed file", f"/console/files/{failed}", is_list=False),
        Page(f"a document of {_SMALL} lines", f"{_DOCUMENTS}/{small}/1", is_list=False),
        Page(f"a document of {_LARGE:,} lines", f"{_DOCUMENTS}/{large}/1", is_list=False),
    ]


async def _asked(http: httpx.AsyncClient, page: Page, count: int) -> Times:
    rounds: list[list[float]] = []
    size = 0
    for _ in range(count):
        times = []
        for _ in range(_REQUESTS):
            begun = time.perf_counter()
            answer = await http.get(page.path)
            times.append(1000 * (time.perf_counter() - begun))
            if answer.status_code != httpx.codes.OK:
                raise RoundFailed(f"{page.path}: {answer.status_code} {answer.text[:500]}")
            size = len(answer.content)
        rounds.append(times)
    return Times(page, rounds, size)


def report(found: list[Times]) -> str:
    """A table of every page."""
    return table(
        ("page", "p50, ms", "p95, ms", "KiB"),
        [
            (one.page.what, spread(one.at(0.5)), spread(one.at(0.95)), f"{one.size / 1024:,.0f}")
            for one in found
        ],
    )


def floors(found: list[Times]) -> list[Floor]:
    """A list is there within its time."""
    return [
        Floor(f"{one.page.what}, p95, ms", one.at(0.95), most=_MOST_MS)
        for one in found
        if one.page.is_list
    ]
