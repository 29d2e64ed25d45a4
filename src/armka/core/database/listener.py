"""LISTEN: a wake-up, never the truth. The polls of the loops remain the net under it (O1)."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping

import asyncpg
import structlog

from armka.core.database.pool import is_unavailable
from armka.core.database.queries import load
from armka.core.database.settings import DatabaseSettings

log = structlog.get_logger(__name__)
SQL = load(__package__, "listener.sql")

JOB_QUEUED = "armka_job_queued"
JOB_MAPPABLE = "armka_job_mappable"

_PROBE_SECONDS = 15.0
_PROBE_TIMEOUT_SECONDS = 5.0
_CONNECT_TIMEOUT_SECONDS = 5.0
_RETRY_SECONDS = 1.0


class Listener:
    """Calls back for every notification; after each (re)connection it calls every callback once, to
    catch up.

    A half-open socket raises no error, so the connection is probed with a bounded statement.
    """

    def __init__(self, settings: DatabaseSettings, wake: Mapping[str, Callable[[], None]]) -> None:
        self._settings = settings
        self._wake = wake

    async def run(self) -> None:
        """Listen until cancelled."""
        while True:
            try:
                await self._listen()
            except Exception as error:
                if not is_unavailable(error) and not isinstance(error, asyncpg.PostgresError):
                    raise
                log.warning("not listening to the database", error=type(error).__name__)
            await asyncio.sleep(_RETRY_SECONDS)

    async def _listen(self) -> None:
        connection = await asyncpg.connect(
            self._settings.url.get_secret_value(),
            timeout=_CONNECT_TIMEOUT_SECONDS,
            command_timeout=_PROBE_TIMEOUT_SECONDS,
            server_settings={"application_name": "arm-ka listener"},
        )
        closed = asyncio.Event()
        connection.add_termination_listener(lambda _: closed.set())
        try:
            for channel in self._wake:
                await connection.add_listener(channel, self._notified)
            for callback in self._wake.values():
                callback()
            log.info("listening to the database")
            while not closed.is_set():
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(closed.wait(), _PROBE_SECONDS)
                await connection.fetchval(SQL.probe)
        finally:
            connection.terminate()

    def _notified(self, _connection: object, _pid: int, channel: str, _payload: object) -> None:
        self._wake[channel]()
