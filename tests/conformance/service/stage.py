"""A reference service in a process of its own, and the kit beside it."""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path

from armka.conformance.service import documents, runner
from armka.conformance.service.capabilities import Capabilities
from armka.conformance.service.check import Check
from armka.conformance.service.runner import Verdict, environment_of
from armka.conformance.service.target import Need, Target
from armka.contract.subjects import Transport
from armka.contract.vocabulary import Pipeline
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.stack import NatsServer, ObjectServer
from tests.forked import CONTEXT, speaks_to

ROOT = Path(__file__).parents[3]
SHARING = 40


def target(
    nats: NatsServer, objects: ObjectServer, name: str, transport: Transport, **over: object
) -> Target:
    """The reference service under a name of its own, on subjects of its own."""
    settings = NatsSettings(
        url=nats.url,
        subject_tabular_request=f"recognition.{name}.tabular",
        subject_image_request=f"recognition.{name}.image",
        subject_result=f"recognition.{name}.result",
    )
    usual: dict[str, object] = {
        "nats": settings,
        "objects": ObjectSettings.model_validate(objects.env()),
        "pipeline": Pipeline.TABULAR,
        "documents": (documents.own(Pipeline.TABULAR),),
        "transport": transport,
        "capabilities": Capabilities(name=name, burst=150),
        "environment": {"REFERENCE_NAME": name, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}"},
        "patience_seconds": 30.0,
        "quiet_seconds": 1.0,
    }
    return Target(**(usual | over))  # type: ignore[arg-type]


def command(fault: str | None) -> tuple[str, ...]:
    """Starts it where the kit must do so."""
    words = (sys.executable, "-m", "tests.conformance.service.reference")
    return (*words, fault) if fault else words


async def judged(
    target: Target, checks: Iterable[Check], fault: str | None, log: Path
) -> list[Verdict]:
    """Run checks: on a forked process, or on one that the kit starts where a check needs that."""
    checks = list(checks)
    verdicts: list[Verdict] = []
    own = [one for one in checks if Need.COMMAND in one.needs]
    rest = [one for one in checks if Need.COMMAND not in one.needs]
    if rest:
        with contextlib.ExitStack() as stack:

            def start(address: str) -> None:
                stack.enter_context(_forked(environment_of(target, address), fault, log))

            verdicts += await runner.judged(target, rest, tell=start)
    if own:
        import dataclasses  # noqa: PLC0415

        started = dataclasses.replace(target, command=command(fault), log=log)
        verdicts += await runner.judged(started, own)
    return verdicts


@contextlib.contextmanager
def _forked(env: dict[str, str], fault: str | None, log: Path) -> Iterator[BaseProcess]:
    process = CONTEXT.Process(target=_run, args=(env, fault, log), daemon=True)
    process.start()
    try:
        yield process
    finally:
        process.kill()
        process.join()


def _run(env: dict[str, str], fault: str | None, log: Path) -> None:
    speaks_to(log)
    from tests.conformance.service.faults import FAULTS  # noqa: PLC0415 - preloaded
    from tests.conformance.service.reference import Reference, main  # noqa: PLC0415

    main(FAULTS[fault].kind if fault else Reference, env)
