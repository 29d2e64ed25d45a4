"""Least privilege: what each role may publish and subscribe to, on both transports (§3).

Answers come to `_INBOX.<role>.>`, which nobody but the role may subscribe to.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from armka.contract.subjects import CORE_RESULTS, Subjects
from armka.contract.vocabulary import Pipeline
from armka.messaging.stream import STREAM

CORE = "core"
OPERATOR = "operator"
SERVICES = {"tabular-parser": Pipeline.TABULAR, "scan-gateway": Pipeline.IMAGE}


_OWN_PERMISSIONS = "$SYS.REQ.USER.INFO"


@dataclass(frozen=True)
class Role:
    """A user of NATS. `answers`: it may publish to the reply subject of what it received, once.

    An entry `subject queue` of `subscribe` allows the subject in that queue group only.
    """

    name: str
    publish: tuple[str, ...]
    subscribe: tuple[str, ...]
    answers: bool = False


def roles(
    ways: Sequence[Subjects],
    services: Mapping[str, Pipeline] = SERVICES,
    *,
    manage_stream: bool = False,
) -> list[Role]:
    """Every role; `ways` are the subjects of each transport, `services` by name what they read.

    With `manage_stream` the core may create the stream where it is missing (N4).
    """
    own = [_service(name, pipeline, ways) for name, pipeline in services.items()]
    return [_core(ways, manage_stream=manage_stream), *own, _operator(ways)]


def _core(ways: Sequence[Subjects], *, manage_stream: bool) -> Role:
    publish = [subject for way in ways for subject in (way.tabular_request, way.image_request)]
    results = [way.result for way in ways]
    publish += _stream_access(CORE_RESULTS, results)
    publish.append(f"$JS.API.STREAM.MSG.GET.{STREAM}")
    if manage_stream:
        publish.append(f"$JS.API.STREAM.CREATE.{STREAM}")
    advisory = f"$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.{STREAM}.{CORE_RESULTS}"
    subscribe = [f"{subject} {CORE_RESULTS}" for subject in (*results, advisory)]
    return _role(CORE, publish, subscribe, answers=True)


def _service(name: str, pipeline: Pipeline, ways: Sequence[Subjects]) -> Role:
    requests = [way.request(pipeline) for way in ways]
    publish = [way.result for way in ways] + _stream_access(name, requests)
    return _role(name, publish, [f"{request} {name}" for request in requests])


def _operator(ways: Sequence[Subjects]) -> Role:
    """Manages streams and watches; speaks for nobody."""
    watched = [
        subject for way in ways for subject in (way.tabular_request, way.image_request, way.result)
    ]
    return _role(OPERATOR, ["$JS.API.>"], [*watched, "$JS.EVENT.>"])


def _stream_access(consumer: str, subjects: Sequence[str]) -> list[str]:
    """To use one durable consumer, and to make it if it reads these subjects: the server compares
    the subject in the name of the request with the one inside it.
    """
    return [
        f"$JS.API.STREAM.INFO.{STREAM}",
        f"$JS.API.CONSUMER.INFO.{STREAM}.{consumer}",
        *(f"$JS.API.CONSUMER.CREATE.{STREAM}.{consumer}.{subject}" for subject in subjects),
        f"$JS.API.CONSUMER.MSG.NEXT.{STREAM}.{consumer}",
        f"$JS.ACK.{STREAM}.{consumer}.>",
    ]


def _role(
    name: str, publish: Sequence[str], subscribe: Sequence[str], *, answers: bool = False
) -> Role:
    return Role(
        name,
        tuple(dict.fromkeys([*publish, _OWN_PERMISSIONS])),
        tuple(dict.fromkeys([*subscribe, f"_INBOX.{name}.>"])),
        answers,
    )
