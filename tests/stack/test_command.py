"""`armka stack --data DIR`, from outside."""

import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import asyncpg
import httpx
import nats
import pytest

from armka.stack.s3_request import S3Keys, request
from tests import web

from .conftest import Running, assert_gone, wait_for

Start = Callable[..., Running]
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def s3(env: dict[str, str], method: str, key: str, body: bytes = b"") -> tuple[int, bytes]:
    keys = S3Keys(env["S3_ACCESS_KEY_ID"], env["S3_SECRET_ACCESS_KEY"], env["S3_REGION"])
    port = httpx.URL(env["S3_ENDPOINT_URL"]).port
    assert port
    return request(port, keys, method, f"/{env['S3_BUCKET']}/{key}", body, timeout=10)


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


async def query(env: dict[str, str], statement: str) -> object:
    connection = await asyncpg.connect(env["DATABASE_URL"], timeout=10)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


async def test_env_names_three_servers_that_serve(run_stack: Start) -> None:
    """DIR/env has exactly the fixed names, and each address works at once."""
    running = run_stack()
    env = running.ready()
    assert list(env) == [
        "DATABASE_URL",
        "NATS_URL",
        "S3_ENDPOINT_URL",
        "S3_BUCKET",
        "S3_ACCESS_KEY_ID",
        "S3_SECRET_ACCESS_KEY",
        "S3_REGION",
    ]
    assert env["S3_BUCKET"] == "arm-ka"
    assert s3(env, "PUT", "оборотка 2025.xls", b"\xd0\xcf")[0] == 200
    assert s3(env, "GET", "оборотка 2025.xls") == (200, b"\xd0\xcf")
    assert await query(env, "select current_setting('server_version_num')::int / 10000") == 18
    assert await query(env, "select upper('оборотка')") == "ОБОРОТКА"
    assert await query(env, "select current_setting('fsync')") == "on"
    assert await query(env, "show max_connections") == "200"
    client = await nats.connect(env["NATS_URL"])
    stream = await client.jetstream().add_stream(name="TRIAL", subjects=["trial.>"])
    assert stream.config.storage == "file"
    await client.close()
    assert running.end() == 0
    assert f"ready: {running.env_file}" in running.out.read_text()
    lines = running.err.read_text().splitlines()
    assert sorted(line.split(":")[0] for line in lines) == ["nats", "postgres", "s3"]


async def test_servers_refuse_whoever_has_not_the_secrets(run_stack: Start) -> None:
    """Another password, other keys or none get nothing, and the secrets are private files."""
    running = run_stack()
    env = running.ready()
    wrong = env | {"DATABASE_URL": re.sub(":[0-9a-f]{64}@", ":wrong@", env["DATABASE_URL"])}
    with pytest.raises(asyncpg.InvalidPasswordError):
        await query(wrong, "select 1")
    assert s3(env | {"S3_SECRET_ACCESS_KEY": "wrong"}, "GET", "x")[0] == 403
    async with web.client() as stranger:
        answer = await stranger.get(f"{env['S3_ENDPOINT_URL']}/arm-ka/x")
    assert answer.status_code == 403
    assert mode(running.data) == 0o700
    private = ["env", "lock", "postgres.log", "nats.log", "s3.log"]
    private += ["postgres/secrets.json", "s3/secrets.json"]
    assert {mode(running.data / name) for name in private} == {0o600}


@linux_only
def test_a_server_ends_even_if_its_guard_is_killed(run_stack: Start) -> None:
    """`kill -9` of everything between the user and the servers, at once, leaves no server."""
    running = run_stack()
    running.ready()
    below = running.descendants()
    guards = [pid for pid, line in below.items() if line.rstrip().endswith("guard.py")]
    assert len(guards) == 3
    subprocess.run(["kill", "-9", str(running.process.pid), *map(str, guards)], check=True)
    running.process.wait()
    assert_gone(below)
    for path in sockets_of(below):  # nobody was left who could
        path.unlink()


def test_a_stale_env_is_gone_before_anything_starts(run_stack: Start, tmp_path: Path) -> None:
    """A reader of DIR/env never gets a killed run's addresses once the next run has begun."""
    data = tmp_path / "data"
    data.mkdir()
    (data / "lock").touch()
    (data / "env").write_text("DATABASE_URL=postgresql://nobody-is-here\n")
    run_stack(data)
    wait_for((data / "nats.log").exists, "the first server")
    env_file = data / "env"
    assert not env_file.exists() or "nobody-is-here" not in env_file.read_text()


def test_the_same_folder_is_refused_and_the_first_goes_on(run_stack: Start) -> None:
    """A second stack on a used folder says who uses it, exits with 1 and harms nothing."""
    first = run_stack()
    env = first.ready()
    second = run_stack()
    assert second.process.wait(30) == 1
    assert f"is in use by process {first.process.pid}" in first.err.read_text()
    assert first.process.poll() is None
    assert first.ready() == env


def test_two_stacks_run_side_by_side(run_stack: Start, tmp_path: Path) -> None:
    """Other folders, other ports, other secrets."""
    pair = [run_stack(tmp_path / name) for name in ("one", "two")]
    one, two = (running.ready() for running in pair)
    same = {key for key in one if one[key] == two[key]}
    assert same == {"S3_BUCKET", "S3_REGION"}
    assert [s3(env, "PUT", "mine", b"1")[0] for env in (one, two)] == [200, 200]


@linux_only
@pytest.mark.parametrize(("program", "name"), [("postgres", "postgres"), ("weed", "s3")])
def test_a_server_that_dies_is_reported(run_stack: Start, program: str, name: str) -> None:
    """The stack says which one and shows the end of its log, ends the rest, exits with 1."""
    running = run_stack()
    running.ready()
    below = running.descendants()
    pid = running.pid_of(program)
    subprocess.run(["kill", "-9", str(pid)], check=True)
    assert running.process.wait(30) == 1
    said = running.err.read_text()
    assert f"{name} (pid {pid}) ended unexpectedly (exit status 137)" in said
    assert str(running.data / f"{name}.log") in said
    assert_gone(below)
    assert not running.env_file.exists()


def test_foreign_folders_are_refused_untouched(run_stack: Start, tmp_path: Path) -> None:
    """A folder with other things in it is neither used nor changed."""
    data = tmp_path / "documents"
    data.mkdir(mode=0o755)
    (data / "letter.txt").write_text("dear")
    running = run_stack(data)
    assert running.process.wait(30) == 1
    assert "is not empty" in running.err.read_text()
    assert mode(data) == 0o755
    assert [path.name for path in data.iterdir()] == ["letter.txt"]


def test_parents_keep_owner_and_mode(run_stack: Start, tmp_path: Path) -> None:
    """A data folder in a private home works, and the home stays private."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    parents = [home, *home.parents]
    before = [(path.stat().st_mode, path.stat().st_uid, path.stat().st_gid) for path in parents]
    running = run_stack(home / "work" / "data")
    running.ready()
    after = [(path.stat().st_mode, path.stat().st_uid, path.stat().st_gid) for path in parents]
    assert after == before


def test_a_signal_while_it_starts_leaves_nothing(run_stack: Start) -> None:
    """Ctrl-C before it is ready: exit 0, no process, no env."""
    running = run_stack()
    wait_for((running.data / "postgres.log").exists, "the first server")
    below = running.descendants()
    assert running.end(signal.SIGINT) == 0
    assert_gone(below)
    assert not running.env_file.exists()


@linux_only
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_nothing_is_left_behind_but_the_data(run_stack: Start, number: int) -> None:
    """SIGTERM exits with 0, leaves no process, no env; so does `kill -9`, soon; data stays."""
    first = run_stack()
    env = first.ready()
    await store(env)
    guest = await asyncpg.connect(env["DATABASE_URL"])  # a client that stays holds up nothing
    below = first.descendants()
    assert len(below) > 6, "three guards, three servers, PostgreSQL's own children"
    status = first.end(number)
    assert (status == 0) is (number == signal.SIGTERM)
    assert first.env_file.exists() is (number == signal.SIGKILL)
    second = run_stack()  # at once: it waits for what is still dying
    wait_for(second.says_ready, "the second start")
    assert_gone(below)
    assert second.ready()["NATS_URL"] == env["NATS_URL"], "clients find it where it was"
    assert await stored(second.ready()) == (42, b"42", b"42")
    guest.terminate()
    assert second.end(signal.SIGTERM) == 0
    assert not sockets_of(below)


async def store(env: dict[str, str]) -> None:
    await query(env, "create table kept as select 42 as answer")
    assert s3(env, "PUT", "kept", b"42")[0] == 200
    client = await nats.connect(env["NATS_URL"])
    await client.jetstream().add_stream(name="KEPT", subjects=["kept"])
    await client.jetstream().publish("kept", b"42")
    await client.close()


async def stored(env: dict[str, str]) -> tuple[object, bytes, bytes | None]:
    client = await nats.connect(env["NATS_URL"])
    message = await client.jetstream().get_msg("KEPT", 1)
    await client.close()
    return await query(env, "select answer from kept"), s3(env, "GET", "kept")[1], message.data


def sockets_of(processes: dict[int, str]) -> list[Path]:
    """The sockets that SeaweedFS left in /tmp."""
    ports = re.findall(r"-[a-z0-9.]*port[a-z.]*=(\d+)", " ".join(processes.values()))
    assert len(ports) > 10
    return [path for port in ports for path in Path("/tmp").glob(f"seaweedfs-*-{port}.sock")]


def test_a_server_that_cannot_start_is_reported(run_stack: Start, tmp_path: Path) -> None:
    """Broken data: exit 1, the server's name and its own words."""
    home = tmp_path / "data" / "postgres"
    (home / "data").mkdir(mode=0o700, parents=True)
    (tmp_path / "data" / "lock").touch()
    (home / "lock").touch()
    (home / "data" / "PG_VERSION").write_text("9.6\n")
    running = run_stack()
    assert running.process.wait(30) == 1
    said = running.err.read_text()
    assert "postgres ended while starting" in said
    assert str(home / "data") in said
