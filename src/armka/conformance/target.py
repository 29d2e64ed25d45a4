"""The core under test: where it is, how it is set, and what may be done with it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol
from uuid import UUID

from armka.conformance.transports import MANNERS, Manner
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings

# What the requirements say where nothing is set, in seconds and counts.
DEFAULTS: Mapping[str, float] = {
    "OUTBOX_POLL_SECONDS": 5,
    "ACK_TIMEOUT_SECONDS": 30,
    "OUTBOX_MAX_REPUBLISH": 3,
    "REPLY_TIMEOUT_SECONDS_TABULAR": 600,
    "REPLY_TIMEOUT_SECONDS_IMAGE": 1800,
    "WATCHDOG_PERIOD_SECONDS": 30,
    "MAPPING_POLL_SECONDS": 5,
}


class Power(StrEnum):
    """What only somebody who runs the core and its servers can do."""

    START_CORE = "start one more core"
    STOP_CORE = "stop all cores in order (SIGTERM)"
    KILL_CORE = "kill all cores (SIGKILL)"
    STOP_NATS = "stop and start NATS"
    FREEZE_NATS = "freeze and thaw NATS"
    STOP_OBJECTS = "stop and start S3"
    CUT = "cut every connection to the database"
    SUPERUSER = "be the database's superuser"
    HEALTH = "ask the core's /healthcheck"
    RETRY = "ask the core's API for a new attempt"


class Operator(Protocol):
    """Whoever runs the core under test. Only methods that the target's `powers` name are called."""

    async def start_core(self) -> None:
        """Start one more core with the same settings, and return when it takes part."""
        ...

    async def stop_cores(self) -> list[int]:
        """Send SIGTERM to every core, wait for their ends and return their exit codes."""
        ...

    async def kill_cores(self) -> None:
        """End every core as a power cut would."""
        ...

    async def stop_nats(self) -> None:
        """Stop NATS."""
        ...

    async def start_nats(self) -> None:
        """Start NATS again, on the same address."""
        ...

    def freeze_nats(self) -> None:
        """Stop NATS from answering, with its connections open."""
        ...

    def thaw_nats(self) -> None:
        """Let it go on."""
        ...

    async def stop_objects(self) -> None:
        """Stop S3."""
        ...

    async def start_objects(self) -> None:
        """Start S3 again, on the same address."""
        ...

    async def health(self) -> int:
        """The HTTP status of `/healthcheck`."""
        ...

    async def retry(self, file_id: UUID) -> int:
        """Ask for a new attempt to recognise a file; the HTTP status of the answer."""
        ...


@dataclass(frozen=True)
class Target:
    """A core under test.

    `settings`: those that are known to differ from the defaults. `powers`: what may be done with it
    and its servers; what the kit cannot do by SQL, the operator does.
    """

    database_url: str
    nats: NatsSettings
    objects: ObjectSettings
    settings: Mapping[str, float | str] = field(default_factory=dict)
    powers: frozenset[Power] = frozenset()
    operator: Operator | None = None
    patience_seconds: float = 20.0

    @property
    def manner(self) -> Manner:
        """How its transport behaves."""
        return MANNERS[self.nats.transport]

    def setting(self, name: str) -> float | str | None:
        """A setting of the core, or its default; None: not known."""
        return self.settings.get(name, DEFAULTS.get(name))

    def seconds(self, name: str) -> float:
        """A setting that is a number."""
        value = self.setting(name)
        if value is None:
            raise KeyError(name)
        return float(value)
