"""The servers one by one, as tests use them."""

import asyncio
import socket
import sys
from pathlib import Path

import asyncpg
import nats
import pytest

from armka.stack import NatsServer, ObjectServer, PostgresServer, ports
from armka.stack import server as server_module
from armka.stack.errors import FolderInUse, PortTaken
from armka.stack.s3_request import request


async def answer(server: PostgresServer, statement: str) -> object:
    connection = await asyncpg.connect(server.url, timeout=10, command_timeout=10)
    try:
        return await connection.fetchval(statement)
    finally:
        await connection.close()


async def test_postgres_comes_back_on_its_port_with_its_data(tmp_path: Path) -> None:
    """After `kill()` and after `stop()`."""
    async with PostgresServer(tmp_path / "postgres") as server:
        url, pid = server.url, server.pid
        await answer(server, "create table kept as select 1 as one")
        server.kill()
        await server.start()
        assert (server.url, server.pid != pid) == (url, True)
        assert await answer(server, "select one from kept") == 1
        await server.stop()
        with pytest.raises(OSError, match=r"refused|failed"):
            await answer(server, "select 1")
        await server.start()
        assert await answer(server, "select one from kept") == 1


async def test_a_paused_postgres_answers_nobody_until_resumed(tmp_path: Path) -> None:
    """Not even on a connection that was open before: its backend is frozen too."""
    async with PostgresServer(tmp_path / "postgres", fsync=False) as server:
        connection = await asyncpg.connect(server.url)
        server.pause()
        question = asyncio.create_task(connection.fetchval("select 1"))
        done, _ = await asyncio.wait([question], timeout=0.5)
        assert not done
        server.resume()
        assert await question == 1
        await connection.close()


def states(pid: int) -> list[str]:
    """What each thread of a process does, by the kernel's letter."""
    stats = [(task / "stat").read_text() for task in Path(f"/proc/{pid}/task").iterdir()]
    return [stat.rpartition(")")[2].split()[0] for stat in stats]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
async def test_a_pause_returns_once_every_thread_stands(tmp_path: Path) -> None:
    """One that still ran would answer what was asked after the pause."""
    async with NatsServer(tmp_path / "nats", fsync=False) as server:
        server.pause()
        assert set(states(server.pid)) == {"T"}


async def test_a_paused_server_can_be_stopped(tmp_path: Path) -> None:
    """A frozen server does not hold up the end of a test."""
    async with PostgresServer(tmp_path / "postgres", fsync=False) as server:
        server.pause()


async def test_nats_keeps_its_stream_over_kill(nats_server: NatsServer) -> None:
    """JetStream's store survives, at the same address."""
    client = await nats.connect(nats_server.url)
    await client.jetstream().add_stream(name="KEPT", subjects=["kept"])
    await client.jetstream().publish("kept", b"42")
    await client.close()
    nats_server.kill()
    await nats_server.start()
    client = await nats.connect(nats_server.url)
    assert (await client.jetstream().get_msg("KEPT", 1)).data == b"42"
    await client.close()


async def test_nats_takes_configuration(tmp_path: Path) -> None:
    """A server that asks for credentials counts as ready, and asks for them."""
    config = 'authorization { user: "core", password: "secret" }'
    async with NatsServer(tmp_path / "nats", config=config) as server:
        client = await nats.connect(server.url, user="core", password="secret")
        await client.close()
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        assert b'"auth_required":true' in await reader.readline()
        writer.close()
        await writer.wait_closed()


async def test_objects_outlive_kill_and_stop(object_store_server: ObjectServer) -> None:
    """The S3 is back on its port with its objects, though the last run's master state is gone."""
    server = object_store_server
    where = (server.port, server.keys)
    assert request(*where, "PUT", "/arm-ka/outlives", b"42")[0] == 200
    server.kill()
    await server.start()
    assert request(*where, "GET", "/arm-ka/outlives", timeout=5) == (200, b"42")
    await server.stop()
    await server.start()
    assert request(*where, "GET", "/arm-ka/outlives", timeout=5) == (200, b"42")


@pytest.mark.parametrize("kind", [PostgresServer, NatsServer, ObjectServer])
async def test_a_port_that_is_taken_meanwhile_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: type[NatsServer]
) -> None:
    """The race for a port is lost once; the server starts on another."""
    with socket.create_server(("127.0.0.1", 0)) as thief:
        taken = thief.getsockname()[1]
        rigged = iter([taken])
        choose = ports.free_ports
        monkeypatch.setattr(
            server_module,
            "free_ports",
            lambda count, suits: [*rigged, *choose(count, suits)][:count],
        )
        async with kind(tmp_path / "server") as server:
            assert server.port != taken


async def test_a_restart_does_not_move_to_another_port(tmp_path: Path) -> None:
    """Clients would not find it: it fails and says why."""
    server = NatsServer(tmp_path / "nats")
    await server.start()
    await server.stop()
    with socket.create_server(("127.0.0.1", server.port)), pytest.raises(PortTaken, match="in use"):
        await server.start()


@pytest.mark.parametrize("kind", [PostgresServer, NatsServer, ObjectServer])
def test_a_server_is_bound_to_no_event_loop(tmp_path: Path, kind: type[NatsServer]) -> None:
    """Started in one loop, stopped in another."""
    server = kind(tmp_path / "server")
    asyncio.run(server.start())
    pid = server.pid
    asyncio.run(server.stop())
    assert not Path(f"/proc/{pid}").exists()


async def test_a_server_of_another_process_keeps_its_folder(tmp_path: Path) -> None:
    """The lock names its owner, and a second server does not start on the data."""
    async with NatsServer(tmp_path / "nats"):
        (tmp_path / "nats" / "lock").write_text("1\n")  # pid 1 lives, and is not this process
        with pytest.raises(FolderInUse, match="process 1"):
            await NatsServer(tmp_path / "nats").start()


async def test_s3_shuns_ports_whose_sockets_are_left_in_tmp(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SeaweedFS would die of a socket file that another user's killed server left behind."""
    server = ObjectServer(tmp_path / "s3")
    monkeypatch.setattr("armka.stack.object_store._SOCKETS", tmp_path)
    (tmp_path / "seaweedfs-s3-grpc-20001.sock").touch()
    assert [server._suits(port) for port in (20_000, 20_001)] == [True, False]
