"""Deliberate faults of scan-gateway, and the checks that must see each."""

import asyncio
import dataclasses
import inspect
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from armka.contract import object_keys
from armka.contract.fields import ObjectRef
from armka.contract.request import RecognitionRequest
from armka.contract.vocabulary import ErrorCode
from armka.sdk import runtime, work
from armka.sdk.handler import Recognition, Source
from armka.sdk.outside import Errand
from armka.sdk.service import MissingAttempt
from armka.services import registry
from armka.services.scan_gateway import gateway
from armka.services.scan_gateway.callbacks import Callbacks
from armka.services.scan_gateway.circuit import Circuit
from armka.services.scan_gateway.over_http import OverHttp
from armka.services.scan_gateway.recognise import recognise
from armka.services.scan_gateway.scanning import Submission
from tests.scan_gateway import test_callbacks as callbacks
from tests.scan_gateway import test_circuit as circuit
from tests.scan_gateway import test_gateway as exchange
from tests.scan_gateway import test_scenarios as scenarios

Check = Callable[..., Awaitable[None]]
Patch = pytest.MonkeyPatch


@dataclass(frozen=True)
class Mutant:
    """`put_in` makes the gateway faulty for the time of a test."""

    id: str
    fault: str
    caught_by: tuple[Check, ...]
    put_in: Callable[[Patch], None]


MUTANTS: list[Mutant] = []


def mutant(*caught_by: Check) -> Callable[[Callable[[Patch], None]], None]:
    """Enter a fault; its docstring tells it."""

    def enter(put_in: Callable[[Patch], None]) -> None:
        told = " ".join((inspect.getdoc(put_in) or "").split())
        MUTANTS.append(Mutant(put_in.__name__.replace("_", "-"), told, caught_by, put_in))

    return enter


def _workshop(patch: Patch, **methods: Any) -> None:
    kind = type("Faulty", (work.Workshop,), methods)
    patch.setattr(runtime, "Workshop", kind)


def _service(patch: Patch, **fields: Any) -> None:
    faulty = dataclasses.replace(registry.service("scan-gateway"), **fields)
    patch.setitem(registry._SERVICES, "scan-gateway", lambda: faulty)


@mutant(exchange.test_a_file_goes_there_and_its_lines_come_back)
def promises_a_raw_answer(patch: Patch) -> None:
    """Names the raw answer in its envelope, and does not store it."""

    async def store(_: Any, _answer: Path, _size: int, request: RecognitionRequest) -> str:
        return object_keys.raw(request.job)

    _workshop(patch, _store_raw=store)


@mutant(exchange.test_an_answer_that_is_none_is_kept_and_said)
def stores_the_raw_answer_after_the_conversion(patch: Patch) -> None:
    """Stores what ИС answered only where documents could be made of it."""
    kept: dict[str, tuple[Path, int]] = {}
    workshop = work.Workshop

    async def store(_: Any, answer: Path, size: int, request: RecognitionRequest) -> str:
        kept[str(request.job)] = (answer, size)
        return object_keys.raw(request.job)

    async def then(self: Any, child: Any, request: RecognitionRequest, *rest: Any) -> Any:
        recognised = await workshop._recognise(self, child, request, *rest)
        await workshop._store_raw(self, *kept[str(request.job)], request)
        return recognised

    _workshop(patch, _store_raw=store, _recognise=then)


@mutant(scenarios.test_a_successful_result)
def publishes_before_it_stores(patch: Patch) -> None:
    """Announces the result file, and stores it afterwards."""
    late: set[asyncio.Task[Any]] = set()

    async def store(self: Any, request: RecognitionRequest, result: bytes) -> ObjectRef:
        async def afterwards() -> None:
            await asyncio.sleep(1)
            await work.Workshop._store(self, request, result)

        late.add(asyncio.create_task(afterwards()))
        key = object_keys.result(request.file_id, request.job)
        return ObjectRef(self._results.bucket, key)

    _workshop(patch, _store=store)


@mutant(exchange.test_a_past_deadline_sends_nothing)
def does_not_look_at_the_deadline(patch: Patch) -> None:
    """Sends a file whose deadline is past."""
    patch.setattr(work, "_seconds_left", lambda _: 60.0)


@mutant(exchange.test_down_until_the_deadline_is_a_timeout_before_it)
def tries_past_the_deadline(patch: Patch) -> None:
    """Goes on trying when the job's time is over."""
    patch.setattr(gateway, "_seconds_left", lambda _: 1000.0)


@mutant(circuit.test_one_at_a_time_tries_and_its_success_lets_all_through)
def never_pauses(patch: Patch) -> None:
    """Its breaker never opens: an outage is met by every job at once."""
    patch.setattr(Circuit, "is_open", property(lambda _: False))


@mutant(circuit.test_few_failures_between_answers_open_nothing)
def forgets_no_failure(patch: Patch) -> None:
    """Its breaker counts failures, and no answer between them."""
    patch.setattr(Circuit, "_succeeded", lambda _: None)


@mutant(exchange.test_a_request_waits_acknowledged_while_it_is_down)
def gives_up_at_the_first_failure(patch: Patch) -> None:
    """One call that fails is the end of a job."""

    async def once(_: Any, action: Callable[[bool], Awaitable[Any]], _course: Any) -> Any:
        return await action(False)

    patch.setattr(gateway.Gateway, "_persistently", once)


def recognise_anything(source: Source) -> Recognition:
    """Take the answer for an answer about this document."""
    assert source.answer is not None
    about = json.loads(source.answer.path.read_bytes())["document_id"]
    answer = dataclasses.replace(source.answer, reference=about)
    return recognise(dataclasses.replace(source, answer=answer))


@mutant(exchange.test_the_result_of_another_document_is_kept_and_said)
def takes_another_documents_answer(patch: Patch) -> None:
    """Makes documents of an answer about another file."""
    _service(patch, handler=recognise_anything)


@mutant(exchange.test_an_answer_is_taken_up_to_a_size)
def takes_an_answer_of_any_size(patch: Patch) -> None:
    """Does not bound what ИС answers."""
    make = OverHttp.__init__
    patch.setattr(OverHttp, "__init__", lambda self, settings, _: make(self, settings, 10**9))


@mutant(exchange.test_a_failed_document_fails_by_the_contracts_code)
def keeps_no_refusal(patch: Patch) -> None:
    """Stores results only, not what else ИС said."""
    patch.setattr(gateway, "_keep", lambda _errand, _body: None)


@mutant(exchange.test_a_refused_file_is_refused_by_the_contracts_code)
def has_one_code_for_all(patch: Patch) -> None:
    """Whatever ИС says of a file is RECOGNITION_FAILED."""
    patch.setattr(gateway, "_code", lambda _code, _otherwise: ErrorCode.RECOGNITION_FAILED)


@mutant(exchange.test_two_instances_ask_for_one_document)
def has_a_file_read_twice(patch: Patch) -> None:
    """Each submission is a new document there."""
    make = Submission
    patch.setattr(gateway, "Submission", lambda **said: make(**said | {"key": str(uuid4())}))


@mutant(exchange.test_a_document_that_takes_too_long_is_cancelled)
def lets_nothing_go(patch: Patch) -> None:
    """Cancels nothing that nobody waits for any more."""

    async def nothing(_: Any, _course: Any, _errand: Errand) -> None:
        pass

    patch.setattr(gateway.Gateway, "_let_go", nothing)


@mutant(exchange.test_so_many_files_are_given_to_it_at_once)
def gives_it_everything_at_once(patch: Patch) -> None:
    """Does not bound how many files ИС has."""
    patch.setattr(gateway.Gateway, "at_once", property(lambda _: 1000))


@mutant(exchange.test_an_invalid_request_without_attempt_is_answered_under_the_first)
def takes_the_attempt_from_the_header(patch: Patch) -> None:
    """A missing attempt is the one of `Nats-Msg-Id`, as in tabular-parser."""
    _service(patch, missing_attempt=MissingAttempt.FROM_MESSAGE_ID)


@mutant(callbacks.test_only_whoever_has_the_secret_of_the_submission_is_heard)
def hears_any_caller(patch: Patch) -> None:
    """A call needs no secret."""
    take = Callbacks._take

    def taken(self: Any, request: Any) -> Any:
        status = take(self, request)
        if status == 401:
            for expected in self._expected.values():
                expected.came.set()
            return 204
        return status

    patch.setattr(Callbacks, "_take", taken)


@mutant(callbacks.test_a_call_that_does_not_come_is_not_waited_for)
def waits_for_the_call_alone(patch: Patch) -> None:
    """A promised call that does not come is waited for to the end."""

    async def wait(_: Any, _errand: Errand, course: Any) -> None:
        await course.call.came.wait()

    patch.setattr(gateway.Gateway, "_called", wait)
