"""Who the servers run as: root sheds root, a plain user stays who he is."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import asyncpg
import pytest

from armka.stack import PostgresServer, guard, identity
from armka.stack.errors import FolderNotOurs, NoUserForPostgres
from armka.stack.identity import Identity

from .conftest import Running

NOBODY = 65_534
as_root = pytest.mark.skipif(
    os.geteuid() != 0 or sys.platform != "linux", reason="only root on Linux can become others"
)


def uids(pid: int) -> tuple[int, int]:
    """The real and the effective user of a process, as seen from here."""
    (line,) = (x for x in Path(f"/proc/{pid}/status").read_text().splitlines() if x[:4] == "Uid:")
    real, effective = line.split()[1:3]
    return int(real), int(effective)


async def works(server: PostgresServer) -> bool:
    connection = await asyncpg.connect(server.url)
    try:
        await connection.execute("create table if not exists t(); checkpoint")
        return True
    finally:
        await connection.close()


@as_root
@pytest.mark.parametrize(("way", "uid"), [("user_namespace", 0), ("nobody", NOBODY)])
async def test_root_runs_postgres_in_a_private_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, uid: int
) -> None:
    """In a user namespace, or where that is forbidden as nobody, below folders only root enters."""
    monkeypatch.setattr(identity, "_candidates", lambda: [Identity(way, NOBODY, NOBODY)])
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    async with PostgresServer(home / "postgres", fsync=False) as server:
        assert uids(server.pid) == (uid, uid)
        assert await works(server)
        server.kill()
        await server.start()
        assert await works(server)
    assert (home.stat().st_uid, home.stat().st_mode & 0o777) == (0, 0o700)
    assert (home / "postgres" / "data").stat().st_uid == uid


@as_root
async def test_data_follows_the_way_root_is_shed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Data made in a user namespace opens as nobody later, and the other way round."""
    server = PostgresServer(tmp_path / "postgres", fsync=False)
    for way in ("user_namespace", "nobody", "user_namespace"):
        chosen = Identity(way, NOBODY, NOBODY)
        monkeypatch.setattr(identity, "_candidates", lambda chosen=chosen: [chosen])
        async with server:
            assert await works(server)


@as_root
async def test_a_way_that_does_not_work_is_followed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel refuses the first one's mapping; if all fail, the message has the reasons."""
    refused = Identity("user_namespace", -1, -1)
    nobody = Identity("nobody", NOBODY, NOBODY)
    monkeypatch.setattr(identity, "_candidates", lambda: [refused, nobody])
    program = identity_program()
    chosen = await identity.choose_identity(program, tmp_path, tmp_path / "log")
    assert chosen == nobody
    monkeypatch.setattr(identity, "_candidates", lambda: [refused, refused])
    with pytest.raises(NoUserForPostgres, match=r"user namespace: .*Invalid argument"):
        await identity.choose_identity(program, tmp_path, tmp_path / "log")


def identity_program() -> Path:
    from armka.stack.binaries import postgres_program  # noqa: PLC0415 - named for this one use

    return postgres_program("postgres")


@as_root
async def test_another_users_data_is_refused(tmp_path: Path) -> None:
    """Root does not take a user's database away from him."""
    async with PostgresServer(tmp_path / "postgres", fsync=False):
        pass
    os.chown(tmp_path / "postgres" / "data", 1234, 1234)
    with pytest.raises(FolderNotOurs, match="belongs to user 1234"):
        await PostgresServer(tmp_path / "postgres").start()


@as_root
def test_a_plain_user_runs_the_stack(run_stack: Callable[..., Running], tmp_path: Path) -> None:
    """All servers run as that user. He may read the installation, wherever this one is."""
    data = tmp_path / "his"
    data.mkdir(mode=0o700)
    os.chown(data, NOBODY, NOBODY)
    running = run_stack(data, preexec_fn=lambda: guard._become_nobody(NOBODY, NOBODY))
    running.ready()
    servers = [running.pid_of(program) for program in ("postgres", "nats-server", "weed")]
    assert {uids(pid) for pid in servers} == {(NOBODY, NOBODY)}
    assert {path.stat().st_uid for path in data.rglob("*")} == {NOBODY}
    assert running.end() == 0


@as_root
def test_a_user_without_a_name_runs_postgres() -> None:
    """`docker run --user 1234`: PostgreSQL asks for a name that the system does not know."""
    if not all(path.stat().st_mode & 0o001 for path in identity_program().parents):
        pytest.skip("the installation lies in a folder that other users may not enter")
    program = (
        "import asyncio, sys; from pathlib import Path; from armka.stack import PostgresServer\n"
        "async def main():\n"
        "    async with PostgresServer(Path(sys.argv[1])): pass\n"
        "asyncio.run(main())"
    )
    with TemporaryDirectory() as home:  # outside of pytest's own, which is private
        os.chown(home, 1234, 1234)
        done = subprocess.run(
            [sys.executable, "-c", program, f"{home}/postgres"],
            preexec_fn=lambda: guard._become_nobody(1234, 1234),
            env={"PATH": os.defpath, "PYTHONPATH": str(Path(guard.__file__).parents[2])},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert Path(home, "postgres", "data").stat().st_uid == 1234
