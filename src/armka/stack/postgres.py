"""PostgreSQL 18."""

import asyncio
import signal
import sys
from pathlib import Path
from typing import ClassVar

import asyncpg

from armka.stack.binaries import postgres_program
from armka.stack.errors import ServerFailed
from armka.stack.folder import replace_private, secret
from armka.stack.identity import Command, Identity, choose_identity, give_to, run_once
from armka.stack.ports import LOOPBACK
from armka.stack.server import Server

DATABASE = USER = "armka"
_SETTINGS = {
    "listen_addresses": LOOPBACK,
    "unix_socket_directories": "",
    "max_connections": "200",
    "shared_buffers": "128MB",
    "max_wal_size": "1GB",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
_NOT_YET = (
    ConnectionError,
    TimeoutError,
    asyncpg.CannotConnectNowError,
    asyncpg.PostgresConnectionError,
    asyncpg.TooManyConnectionsError,
)
_NO_FSYNC = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}


class PostgresServer(Server):
    """A PostgreSQL server with the database `armka` (UTF-8, builtin C.UTF-8) and a password."""

    name: ClassVar[str] = "postgres"

    def __init__(self, home: Path, *, log: Path | None = None, fsync: bool = True) -> None:
        """`fsync=False` is faster and loses everything with the power: for tests."""
        super().__init__(home, log=log)
        self._data = self.home / "data"
        self._settings = _SETTINGS if fsync else _SETTINGS | _NO_FSYNC

    @property
    def url(self) -> str:
        return self.database_url(DATABASE)

    def database_url(self, database: str) -> str:
        """The address of another database of this server, which speaks no TLS."""
        password = secret(self.home, "password")
        place = f"{LOOPBACK}:{self.port}/{database}"
        return f"postgresql://{USER}:{password}@{place}?sslmode=disable"

    def env(self) -> dict[str, str]:
        return {"DATABASE_URL": self.url}

    async def _prepare(self) -> Identity:
        identity = await choose_identity(postgres_program("postgres"), self.home, self.log)
        if not (self._data / "PG_VERSION").exists():
            await self._initialise(identity)
        await give_to(identity, self._data)
        # The lock says that no server works here: this file is a killed one's, and the pid in it
        # may be somebody else's by now.
        (self._data / "postmaster.pid").unlink(missing_ok=True)
        return identity

    async def _initialise(self, identity: Identity) -> None:
        """Make the cluster aside and rename it: an interrupted `initdb` leaves no half of one."""
        part = self.home / "data.part"
        await asyncio.to_thread(_remove_tree, part)
        part.mkdir(mode=0o700)
        await give_to(identity, part)
        password_file = self.home / "initdb-password"
        replace_private(password_file, secret(self.home, "password"))
        try:
            command = Command(_initdb_argv(part, password_file), self.home, self.log)
            status, said = await run_once("initdb", command, identity)
        finally:
            password_file.unlink()
        if status != 0:
            raise ServerFailed(self.name, f"could not make its data ({status})", self.log, said)
        part.rename(self._data)

    def _command(self) -> Command:
        options = [f"--{name}={value}" for name, value in self._settings.items()]
        argv = (str(postgres_program("postgres")), "-D", str(self._data), f"--port={self.port}")
        # SIGINT is its fast shutdown: SIGTERM would wait for the clients to leave.
        return Command((*argv, *options), self.home, self.log, stop_signal=signal.SIGINT)

    async def _is_ready(self) -> bool:
        try:
            await self._make_database_answer()
        except asyncpg.InvalidPasswordError:
            what = f"refuses the password in {self.home / 'secrets.json'}: it belongs to other data"
            raise ServerFailed(self.name, what, self.log, "") from None
        except _NOT_YET:
            return False
        return True

    async def _make_database_answer(self) -> None:
        try:
            await self._query(DATABASE, "select 1")
        except asyncpg.InvalidCatalogNameError:
            await self._query("postgres", f"create database {DATABASE}")

    async def _query(self, database: str, statement: str) -> None:
        connection = await asyncpg.connect(self.database_url(database), timeout=1)
        try:
            await connection.execute(statement, timeout=10)
        finally:
            connection.terminate()


def _initdb_argv(data: Path, password_file: Path) -> tuple[str, ...]:
    """A random password needs no stretching: one SCRAM iteration keeps connecting cheap."""
    if sys.platform == "darwin":
        locale = ("--locale=C", "--lc-ctype=en_US.UTF-8", "--builtin-locale=C.UTF-8")
    else:
        locale = ("--locale=C.UTF-8",)
    return (
        str(postgres_program("initdb")),
        f"--pgdata={data}",
        f"--username={USER}",
        f"--pwfile={password_file}",
        "--auth=scram-sha-256",
        "--set=scram_iterations=1",
        "--encoding=UTF8",
        "--locale-provider=builtin",
        *locale,
        "--no-sync",
        "--no-instructions",
    )


def _remove_tree(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
    if folder.exists():
        folder.rmdir()
