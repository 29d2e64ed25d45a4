"""`/metrics`: Prometheus text. Few labels, no names, no ids; every query is bounded."""

from collections.abc import Sequence

import structlog
from fastapi import APIRouter, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4

from armka.core.database.pool import is_unavailable, lost_race
from armka.core.http.health import Vitals
from armka.core.quality.backlog import Backlog, Tail, Waiting

log = structlog.get_logger(__name__)

_PIPELINES = frozenset({"tabular", "image"})
_LAG_SECONDS = (0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 1800, 7200)
_CRITICAL_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14400)


class Metrics:
    """The metrics of one process; it is the tally of the tail."""

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry()
        self._waiting = Gauge(
            "armka_waiting", "Jobs in a place, counted up to 100,000", ["place"], registry=registry
        )
        self._oldest = Gauge(
            "armka_oldest_seconds", "Age of the oldest in a place", ["place"], registry=registry
        )
        self._lag = Histogram(
            "armka_publish_lag_seconds",
            "From a job's creation to its first publication",
            ["pipeline"],
            buckets=_LAG_SECONDS,
            registry=registry,
        )
        self._critical = Histogram(
            "armka_critical_time_seconds",
            "From a job's creation (the upload, or the retry) to its mapped result",
            ["pipeline"],
            buckets=_CRITICAL_SECONDS,
            registry=registry,
        )
        self._ended = Counter(
            "armka_jobs_ended", "Jobs by final status", ["pipeline", "status"], registry=registry
        )
        self._publications = Counter(
            "armka_publications", "Publications of ended jobs", ["pipeline"], registry=registry
        )
        self._republications = Counter(
            "armka_republications",
            "Publications of ended jobs after the first",
            ["pipeline"],
            registry=registry,
        )
        self._failures = Counter(
            "armka_failures", "Failure facts", ["pipeline", "kind"], registry=registry
        )
        self._rejected = Counter(
            "armka_rejected_messages", "Messages not applied", ["reason"], registry=registry
        )
        self._requests = Counter(
            "armka_http_requests",
            "Requests by route",
            ["method", "route", "status"],
            registry=registry,
        )
        self._add_vitals()

    def _add_vitals(self) -> None:
        registry = self.registry
        self._database_up = Gauge(
            "armka_database_up", "Whether this scrape could read the tables", registry=registry
        )
        self._nats_up = Gauge(
            "armka_nats_up", "Whether the NATS connection lives", registry=registry
        )
        self._duplicates = Counter(
            "armka_duplicate_publications",
            "Requests that the stream had already when this process published them",
            registry=registry,
        )
        self._duplicates_told = 0
        self._alive = Gauge(
            "armka_loop_alive", "Whether a loop runs and is not stuck", ["loop"], registry=registry
        )
        self._ok = Gauge(
            "armka_loop_ok", "Whether its last cycle went well", ["loop"], registry=registry
        )
        self._age = Gauge(
            "armka_loop_last_cycle_age_seconds",
            "Since a loop's last cycle ended",
            ["loop"],
            registry=registry,
        )

    def request(self, method: str, route: str, status: int) -> None:
        """A request was answered."""
        self._requests.labels(method, route, str(status)).inc()

    def published(self, pipeline: str, seconds: float) -> None:
        """See Tally."""
        self._lag.labels(_known(pipeline)).observe(seconds)

    def mapped(self, pipeline: str, seconds: float) -> None:
        """See Tally."""
        self._critical.labels(_known(pipeline)).observe(seconds)

    def ended(self, pipeline: str, status: str, publications: int) -> None:
        """See Tally."""
        self._ended.labels(_known(pipeline), status).inc()
        self._publications.labels(_known(pipeline)).inc(publications)
        self._republications.labels(_known(pipeline)).inc(max(publications - 1, 0))

    def failed(self, pipeline: str, kind: str) -> None:
        """See Tally."""
        self._failures.labels(_known(pipeline), kind).inc()

    def rejected(self, reason: str) -> None:
        """See Tally."""
        self._rejected.labels(reason).inc()

    def waiting(self, places: Sequence[Waiting] | None) -> None:
        """What waits; None: the database could not be asked, so that nothing is known."""
        self._database_up.set(places is not None)
        if places is None:
            self._waiting.clear()
            self._oldest.clear()
        for place in places or ():
            self._waiting.labels(place.place).set(place.count)
            self._oldest.labels(place.place).set(place.seconds)

    def vitals(self, vitals: Vitals) -> None:
        """How the process itself is."""
        self._nats_up.set(vitals.nats_is_live())
        duplicates = vitals.duplicates()
        self._duplicates.inc(duplicates - self._duplicates_told)
        self._duplicates_told = duplicates
        for loop in vitals.loops():
            self._alive.labels(loop.name).set(loop.is_alive)
            self._ok.labels(loop.name).set(loop.is_ok)
            self._age.labels(loop.name).set(loop.seconds_since_cycle)


def router(metrics: Metrics, backlog: Backlog, tail: Tail, vitals: Vitals) -> APIRouter:
    """The route `/metrics`."""
    api = APIRouter(tags=["health"])

    @api.get("/metrics", response_class=Response, responses={200: _TEXT})
    async def scrape() -> Response:
        """Metrics as Prometheus text.

        What is counted from the tables is that of the whole installation, told by every replica.
        """
        metrics.waiting(await _read(backlog, tail))
        metrics.vitals(vitals)
        text = generate_latest(metrics.registry)
        return Response(text, headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})

    return api


_TEXT = {"description": "Metrics.", "content": {"text/plain": {"schema": {"type": "string"}}}}


async def _read(backlog: Backlog, tail: Tail) -> list[Waiting] | None:
    try:
        await tail.advance()
        return await backlog.read()
    except Exception as error:
        if not is_unavailable(error) and not lost_race(error):
            raise
        log.warning("metrics without the database", error=type(error).__name__)
        return None


def _known(pipeline: str) -> str:
    return pipeline if pipeline in _PIPELINES else "unknown"
