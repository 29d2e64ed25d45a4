"""What a hostile or broken file does to its child process hurts nobody else."""

import asyncio
from typing import Any

import pytest

from armka.sdk import wording
from tests.sdk.stage import QUICK, Core, Running, running

STRICT = QUICK.model_copy(
    update={"concurrency": 1, "time_limit_seconds": 4.0, "max_source_bytes": 5000}
)

DEADLY: list[tuple[dict[str, Any], str]] = [
    ({"do": "abort"}, "RECOGNITION_FAILED"),
    ({"do": "exit"}, "RECOGNITION_FAILED"),
    ({"do": "exit", "status": 3}, "RECOGNITION_FAILED"),
    ({"do": "kill"}, "RECOGNITION_FAILED"),
    ({"do": "allocate"}, "RECOGNITION_FAILED"),
    ({"do": "loop"}, "RECOGNITION_FAILED"),
    ({"do": "hoard output"}, "RECOGNITION_FAILED"),
    ({"do": "raise", "message": "secret"}, "UNKNOWN_ERROR"),
    ({"do": "panic"}, "UNKNOWN_ERROR"),
    ({"do": "leave"}, "UNKNOWN_ERROR"),
    ({"do": "nonsense"}, "UNKNOWN_ERROR"),
    ({"do": "nothing"}, "UNKNOWN_ERROR"),
    ({"do": "surrogate"}, "UNKNOWN_ERROR"),
    ({"do": "refuse", "message": "Лист пуст"}, "INVALID_DOCUMENT"),
    ({"do": "refuse", "message": "Зашифрован", "code": "INVALID_FORMAT"}, "INVALID_FORMAT"),
]


@pytest.fixture
async def strict(nats_settings, object_settings, core: Core):
    settings = STRICT.model_copy(update={"max_result_bytes": 20_000})
    async with running(nats_settings, object_settings, settings) as it:
        yield it


async def pid_of_a_child(core: Core) -> Any:
    request = await core.order({"do": "describe"})
    return (await core.result(request)).body["metrics"]["pid"]


@pytest.mark.parametrize(("order", "code"), DEADLY)
async def test_a_failed_file_is_told_and_its_child_is_not_used_again(
    core: Core, strict: Running, order, code
):
    before = await pid_of_a_child(core)
    request = await core.order(order)

    assert await core.statuses(request) == ["processing", "error"]
    result = core.of(request)[1]
    assert result.code == code
    assert result.body["error"]["message"]
    assert "secret" not in result.body["error"]["message"]
    assert await pid_of_a_child(core) != before


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ("abort", wording.CRASHED),
        ("allocate", wording.OUT_OF_MEMORY),
        ("loop", wording.too_slow(STRICT.time_limit_seconds)),
        ("hoard output", wording.result_too_large(20_000)),
    ],
)
async def test_the_message_names_the_limit_that_was_met(
    core: Core, strict: Running, order, message
):
    request = await core.order({"do": order})

    assert (await core.result(request)).body["error"]["message"] == message


async def test_a_refusal_says_what_its_author_wrote(core: Core, strict: Running):
    request = await core.order({"do": "refuse", "message": "Лист\0 «Отчёт» пуст"})

    result = await core.result(request)
    assert result.body["error"]["message"] == "Лист «Отчёт» пуст"


async def test_a_long_refusal_is_cut(core: Core, strict: Running):
    request = await core.order({"do": "refuse", "message": "ы" * 400})
    long = await core.order({"do": "refuse", "message": "ы" * 400, "times": 1000})

    assert len((await core.result(request)).body["error"]["message"]) == 400
    assert len((await core.result(long)).body["error"]["message"]) == 1000


async def test_a_good_child_is_kept(core: Core, strict: Running):
    assert await pid_of_a_child(core) == await pid_of_a_child(core)


async def test_a_child_is_replaced_after_so_many_files(core: Core, nats_settings, object_settings):
    settings = QUICK.model_copy(update={"concurrency": 1, "jobs_per_child": 3})
    async with running(nats_settings, object_settings, settings):
        pids = [await pid_of_a_child(core) for _ in range(7)]

    assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [3, 3, 1]


async def test_a_source_over_the_limit_is_not_fetched(core: Core, strict: Running):
    request = await core.order(b"x" * 5001)

    assert (await core.result(request)).code == "FILE_READ_ERROR"


async def test_a_deadline_in_the_middle_of_work_is_a_timeout(core: Core, service: Running):
    request = await core.order({"do": "loop"}, seconds=1.5)

    assert (await core.result(request)).code == "TIMEOUT"


async def test_what_a_handler_prints_harms_nothing(core: Core, strict: Running):
    request = await core.order({"do": "print"})

    assert (await core.result(request)).status == "done"


async def test_a_child_sees_no_secret_and_no_connection(
    core: Core, nats_settings, object_settings, monkeypatch
):
    for name in ("NATS_URL", "S3_SECRET_ACCESS_KEY", "OPENBAO__NATS__NATS_SEED", "DATABASE_URL"):
        monkeypatch.setenv(name, "canary")
    async with running(nats_settings, object_settings):
        request = await core.order({"do": "describe"})
        metrics = (await core.result(request)).body["metrics"]

    assert metrics["sockets"] == []
    assert metrics["suffix"] == ".xlsx"
    allowed = {"PATH", "HOME", "LANG", "LANGUAGE", "LC_", "TZ", "TMPDIR", "LD_LIBRARY_PATH"}
    allowed |= {"PYTHONPATH", "PYTHONUTF8", "MALLOC_ARENA_MAX", "OMP_THREAD_LIMIT"}
    allowed |= {"TESSDATA_PREFIX"}
    assert {name[:3] if name.startswith("LC_") else name for name in metrics["environment"]} <= (
        allowed
    )


async def test_others_go_on_while_children_die(core: Core, service: Running):
    slow_or_harmless_here = ("loop", "hoard output")
    orders = [order for order, _ in DEADLY if order["do"] not in slow_or_harmless_here]
    deadly = [await core.order(order) for order in orders]
    good = [await core.order({"do": "read"}) for _ in range(20)]

    for request in good:
        assert (await core.result(request)).status == "done"
    for request in deadly:
        assert (await core.result(request)).status == "error"


async def test_acks_do_not_wait_while_children_compute(core: Core, service: Running):
    """With every child in an endless loop, a hundred requests are acknowledged all the same."""
    for _ in range(QUICK.concurrency):
        await core.order({"do": "loop"})
    requests = [await core.upload({"do": "read"}, seconds=4) for _ in range(100)]
    await asyncio.gather(*(core.send(request) for request in requests))

    for request in requests:
        assert (await core.statuses(request, 1))[0] == "processing"
