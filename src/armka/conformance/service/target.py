"""The service under test: how it is reached, what it declares, and what may be done with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

from armka.conformance.service.capabilities import Capabilities
from armka.conformance.service.documents import Document
from armka.contract.subjects import DEFAULTS, Subjects, Transport
from armka.contract.vocabulary import Pipeline
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings


@dataclass(frozen=True)
class Target:
    """A service under test.

    `documents`: files that it can read; the first is sent where one is enough. `command` starts it,
    in `environment` with NATS and the kit's S3 added. `host`, `port`: where the kit listens as S3.
    `patience_seconds`: how long something that must come is waited for; `quiet_seconds`: how long
    the kit listens for what must not come.
    """

    nats: NatsSettings
    objects: ObjectSettings
    pipeline: Pipeline
    documents: tuple[Document, ...]
    transport: Transport = Transport.CORE
    capabilities: Capabilities = field(default_factory=Capabilities)
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    log: Path | None = None
    host: str = "127.0.0.1"
    port: int = 0
    patience_seconds: float = 30.0
    quiet_seconds: float = 1.0
    start_seconds: float = 60.0
    window_seconds: float = 0.0

    @property
    def subjects(self) -> Subjects:
        """The transport's, or those that the settings override (N1)."""
        usual = DEFAULTS[self.transport]
        return Subjects(
            self.nats.subject_tabular_request or usual.tabular_request,
            self.nats.subject_image_request or usual.image_request,
            self.nats.subject_result or usual.result,
        )


def _no_command(target: Target) -> str | None:
    return None if target.command else "the kit must start and stop the service: give --command"


def _no_document(target: Target) -> str | None:
    if target.documents:
        return None
    return f"needs a file that the service reads: give --file (the pipeline is {target.pipeline})"


def _no_stream(target: Target) -> str | None:
    return None if target.transport is Transport.JETSTREAM else "is about --transport jetstream"


def _no_core(target: Target) -> str | None:
    return None if target.transport is Transport.CORE else "is about --transport core"


_WINDOW_SECONDS = 1.0


def _no_repeats(target: Target) -> str | None:
    if target.window_seconds <= _WINDOW_SECONDS:
        return None
    return (
        f"the stream drops repeats for {target.window_seconds:g} s: "
        "point the kit at a NATS that has no stream of that name yet"
    )


def _no_encryption(target: Target) -> str | None:
    if target.capabilities.detects_encryption:
        return None
    return "the capabilities say detects_encryption = false"


def _no_demand_of_answers(target: Target) -> str | None:
    if target.capabilities.repeats_until_answered:
        return None
    return "the capabilities say repeats_until_answered = false"


class Need(Enum):
    """What a check cannot do without; each says why a target lacks it."""

    COMMAND = (_no_command,)
    DOCUMENT = (_no_document,)
    STREAM = (_no_stream,)
    CORE = (_no_core,)
    REPEATS = (_no_repeats,)
    ENCRYPTION = (_no_encryption,)
    ANSWERS = (_no_demand_of_answers,)

    def reason_against(self, target: Target) -> str | None:
        """Why it is lacking; None where it is there."""
        reason: Callable[[Target], str | None] = self.value[0]
        return reason(target)
