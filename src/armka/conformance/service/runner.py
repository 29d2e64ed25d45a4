"""Runs checks against a service: each passes, fails, or does not apply, with the reason."""

import contextlib
import dataclasses
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from armka.conformance.findings import Nonconformance
from armka.conformance.outcome import Outcome
from armka.conformance.service import proxy, wire
from armka.conformance.service.check import Check
from armka.conformance.service.journal import Journal
from armka.conformance.service.process import Processes
from armka.conformance.service.proxy import Proxy
from armka.conformance.service.surface import Surface
from armka.conformance.service.target import Target
from armka.conformance.service.wire import Wire
from armka.contract.subjects import Transport


class ServiceNotReady(Exception):
    """No judgement is possible: the service does not take part, or not through the kit."""


@dataclass(frozen=True)
class Verdict:
    """What became of a check; `events`: what was sent and seen, with times."""

    check: Check
    outcome: Outcome
    expected: str
    seen: str
    note: str
    events: tuple[str, ...]
    begun: datetime
    seconds: float


class Judge:
    """One session with one service."""

    def __init__(
        self, target: Target, journal: Journal, wire: Wire, proxy: Proxy, processes: Processes
    ) -> None:
        self.target = target
        self._journal = journal
        self._wire = wire
        self._proxy = proxy
        self._processes = processes
        self._jobs: set[str] = set()

    def surface(self) -> Surface:
        """A surface for one check."""
        parts = self._journal, self._wire, self._proxy, self._processes
        return Surface(self.target, *parts, self._jobs)

    async def judge(self, check: Check) -> Verdict:
        """Run one check. What breaks the kit itself, such as a lost S3, is raised."""
        begun, start = datetime.now(UTC), time.monotonic()
        reason = check.reason_against(self.target)
        if reason is not None:
            return Verdict(check, Outcome.NOT_APPLICABLE, "", "", reason, (), begun, 0.0)
        surface = self.surface()
        expected = seen = ""
        try:
            await check.look(surface)
        except Nonconformance as finding:
            expected, seen = finding.expected, finding.seen
        outcome = Outcome.FAILED if expected else Outcome.PASSED
        events = tuple(self._journal.since(surface.begun))
        seconds = time.monotonic() - start
        return Verdict(check, outcome, expected, seen, surface.note, events, begun, seconds)

    async def ready(self) -> None:
        """Wait until the service answers, and see that its S3 is the kit's."""
        try:
            await self.surface().takes_part(self._expect_alive)
        except Nonconformance as finding:
            raise ServiceNotReady(self._silence(finding)) from None
        if not self._proxy.accesses:
            raise ServiceNotReady(
                "the service answered without asking the kit's S3 for anything: "
                "set its S3_ENDPOINT_URL to the address that the kit prints"
            )

    def _expect_alive(self) -> None:
        if any(it.exit_code is not None for it in self._processes):
            raise ServiceNotReady(f"the service has ended before it answered{self._said()}")

    def _silence(self, finding: Nonconformance) -> str:
        subject = self._wire.subjects.request(self.target.pipeline)
        return (
            f"a valid request on {subject}: expected {finding.expected}; "
            f"came {finding.seen}{self._said()}"
        )

    def _said(self) -> str:
        return "".join(f"; its log ends:\n{it.last_words()}" for it in self._processes)


@contextlib.asynccontextmanager
async def opened(
    target: Target, tell: Callable[[str], None] = lambda _: None
) -> AsyncIterator[Judge]:
    """A session for the time of the block. `tell` hears the address of the kit's S3, before the
    service has to answer. Raises ServiceNotReady, CommandNotStarted, NatsUnreachable,
    StreamUnusable.
    """
    journal = Journal()
    async with contextlib.AsyncExitStack() as stack:
        door = Proxy(journal, target.objects.endpoint_url, target.objects.bucket)
        address = await stack.enter_async_context(proxy.listening(door, target.host, target.port))
        connection = await stack.enter_async_context(
            wire.opened(target.nats, target.transport, target.subjects, target.pipeline, journal)
        )
        target = dataclasses.replace(target, window_seconds=connection.stream.window_seconds)
        tell(address)
        log = target.log
        if log is None:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="armka-conform-"))
            log = Path(folder) / "service.log"
        processes = Processes(target.command, environment_of(target, address), log)
        stack.push_async_callback(processes.end_all)
        if target.command:
            await processes.start()
        judge = Judge(target, journal, connection, door, processes)
        await judge.ready()
        yield judge


async def judged(
    target: Target,
    checks: Iterable[Check],
    *,
    tell: Callable[[str], None] = lambda _: None,
    heard: Callable[[Verdict], None] = lambda _: None,
) -> list[Verdict]:
    """Run checks, one after the other, in one session; `heard` is told each verdict."""
    verdicts = []
    async with opened(target, tell) as judge:
        for check in checks:
            verdict = await judge.judge(check)
            verdicts.append(verdict)
            heard(verdict)
    return verdicts


def environment_of(target: Target, address: str) -> dict[str, str]:
    """What a service under test must be told: NATS, and the kit as its S3."""
    objects, subjects = target.objects, target.subjects
    # The service may make its own consumer, unless the user says otherwise.
    managing = {"NATS_MANAGE_STREAM": "true"} if target.transport is Transport.JETSTREAM else {}
    return (
        managing
        | dict(target.environment)
        | {
            "NATS_URL": target.nats.url,
            "NATS_TRANSPORT": target.transport.value,
            "NATS_SUBJECT_TABULAR_REQUEST": subjects.tabular_request,
            "NATS_SUBJECT_IMAGE_REQUEST": subjects.image_request,
            "NATS_SUBJECT_RESULT": subjects.result,
            "S3_ENDPOINT_URL": address,
            "S3_BUCKET": objects.bucket,
            "S3_ACCESS_KEY_ID": objects.access_key_id.get_secret_value(),
            "S3_SECRET_ACCESS_KEY": objects.secret_access_key.get_secret_value(),
            "S3_REGION": objects.region,
        }
    )
