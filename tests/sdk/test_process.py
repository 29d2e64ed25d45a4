"""A service as a process of its own: signals, and what a kill leaves behind."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from armka.stack import NatsServer, ObjectServer
from tests.sdk.stage import Core, answers, until

SCRIPT = Path(__file__).parent / "trial_service.py"
ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment(nats_server: NatsServer, object_store_server: ObjectServer, tmp_path):
    (tmp_path / "tmp").mkdir()
    return {
        **os.environ,
        **nats_server.env(),
        **object_store_server.env(),
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}",
        "TMPDIR": str(tmp_path / "tmp"),
        "SERVICE_CONCURRENCY": "2",
        "SERVICE_DRAIN_SECONDS": "5",
    }


@contextlib.asynccontextmanager
async def process(environment, *command) -> AsyncIterator[asyncio.subprocess.Process]:
    it = await asyncio.create_subprocess_exec(*command, env=environment)
    try:
        yield it
    finally:
        if it.returncode is None:
            it.kill()
        await it.wait()


@pytest.fixture
async def service(environment, core: Core):
    async with process(environment, sys.executable, str(SCRIPT)) as it:
        await answers(core.nats_url)
        yield it


def folders(environment) -> list[Path]:
    return [it for it in Path(environment["TMPDIR"]).iterdir() if it.name.startswith("armka-sdk")]


def lives(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    try:
        return state.read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


async def gone(pids: set[int]) -> None:
    await until(lambda: not any(lives(pid) for pid in pids))


def children_of(pid: int) -> set[int]:
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return {int(child) for task in tasks for child in task.read_text().split()}


async def test_a_handler_may_stand_in_the_script_itself(core: Core, service):
    request = await core.order({"do": "read"})

    assert (await core.result(request)).status == "done"


@pytest.mark.parametrize("told", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_drains_and_ends_with_0(core: Core, service, environment, told, tmp_path):
    order = {"do": "wait", "begun": str(tmp_path / "begun"), "until": str(tmp_path / "go")}
    request = await core.order(order)
    await core.statuses(request, 1)
    children = children_of(service.pid)

    service.send_signal(told)
    (tmp_path / "go").touch()

    assert await service.wait() == 0
    assert [it.status for it in core.of(request)] == ["processing", "done"]
    await gone(children)
    assert folders(environment) == []


@pytest.mark.parametrize("busy", ["loop", "hold"])
async def test_children_die_with_a_killed_service(core: Core, service, busy, tmp_path):
    """One is in the middle of a file, the other waits for work."""
    await core.order({"do": busy, "begun": str(tmp_path / "begun")})
    await until((tmp_path / "begun").exists)
    children = children_of(service.pid)
    assert len(children) == 2

    service.kill()

    try:
        await gone(children)
    finally:
        for pid in filter(lives, children):
            os.kill(pid, signal.SIGKILL)


async def test_the_next_service_clears_what_a_killed_one_left(
    core: Core, service, environment, tmp_path
):
    pid_file = tmp_path / "pid"
    await core.order({"do": "hang", "pid_file": str(pid_file)})
    await until(pid_file.exists)
    service.kill()
    await service.wait()
    (left,) = folders(environment)

    async with process(environment, sys.executable, str(SCRIPT)):
        await answers(core.nats_url)
        assert left not in folders(environment)


async def test_a_live_service_keeps_its_folder_when_another_starts(
    core: Core, service, environment
):
    (own,) = folders(environment)
    async with process(environment, sys.executable, str(SCRIPT)):
        await until(lambda: len(folders(environment)) == 2)
        assert own in folders(environment)
