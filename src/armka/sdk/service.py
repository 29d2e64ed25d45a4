"""A recognition service: a handler, and the name under which it speaks."""

from dataclasses import dataclass
from enum import Enum, auto

from armka.contract.fields import ServiceInfo
from armka.contract.vocabulary import Pipeline
from armka.sdk.handler import Handler
from armka.sdk.outside import Outsides


class MissingAttempt(Enum):
    """Which attempt an invalid request without one is answered under (C4.2, OQ-71)."""

    FROM_MESSAGE_ID = auto()  # the one that the request's Nats-Msg-Id names, else no answer
    ONE = auto()


@dataclass(frozen=True)
class Service:
    """What a service does and who it is. Its instances share the work by `name` (C4.7).

    `handler` is a function at the top of a module: child processes import it. Of the environment
    they see little; `handler_sees` names the variables that this handler needs beside that.
    With `outside`, files are read by an outside system, and the handler reads its answer.
    """

    name: str
    version: str
    pipeline: Pipeline
    handler: Handler
    missing_attempt: MissingAttempt = MissingAttempt.FROM_MESSAGE_ID
    outside: Outsides | None = None
    handler_sees: frozenset[str] = frozenset()

    @property
    def info(self) -> ServiceInfo:
        """The service as envelopes and result files name it."""
        return ServiceInfo(self.name, self.version)
