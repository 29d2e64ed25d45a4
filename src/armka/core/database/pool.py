"""The pool and its transactions: every wait is bounded, and a connection that let us down is never
used again.
"""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar
from uuid import UUID

import asyncpg
import asyncpg.pgproto.pgproto
import structlog

from armka.core.database.settings import DatabaseSettings

log = structlog.get_logger(__name__)

if TYPE_CHECKING:
    # Generic for the type checker alone.
    Connection = asyncpg.pool.PoolConnectionProxy[asyncpg.Record]
else:
    Connection = asyncpg.pool.PoolConnectionProxy
Record = asyncpg.Record

COMMAND_TIMEOUT_SECONDS = 12.0
_ACQUIRE_TIMEOUT_SECONDS = 5.0
_RETRIES = 5

# The server's own limits are tighter than the client's, so that an error names what was slow.
# lock_timeout is longer than a publish burst may hold its rows (O1).
_SERVER_SETTINGS = {
    "application_name": "arm-ka",
    "timezone": "UTC",
    "statement_timeout": "10s",
    "lock_timeout": "8s",
    "idle_in_transaction_session_timeout": "15s",
    "jit": "off",
    "random_page_cost": "1.1",
}

_UNAVAILABLE: tuple[type[BaseException], ...] = (
    OSError,
    TimeoutError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InsufficientResourcesError,
    asyncpg.IdleInTransactionSessionTimeoutError,
    asyncpg.ReadOnlySQLTransactionError,
)

# What a statement can say about the values it was given.
_BAD_VALUES: tuple[type[BaseException], ...] = (
    ValueError,
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
)

# Losing a deadlock or a serialisation check is over at once; a lock not had in time may be held for
# long.
_BROKEN_OFF = (asyncpg.DeadlockDetectedError, asyncpg.SerializationError)
_LOST_RACE = (*_BROKEN_OFF, asyncpg.LockNotAvailableError)


def is_unavailable(error: BaseException) -> bool:
    """Whether the database could not be reached or was not serving, so that the same may be tried
    again unchanged.
    """
    # The driver's complaints about arguments are InterfaceErrors too, and ValueErrors besides.
    return isinstance(error, _UNAVAILABLE) and not isinstance(error, ValueError)


def is_unmigrated(error: BaseException) -> bool:
    """Whether the database lacks a table or column of this version's schema."""
    return isinstance(error, (asyncpg.UndefinedTableError, asyncpg.UndefinedColumnError))


def lost_race(error: BaseException) -> bool:
    """Whether the statement lost to another transaction, so that the whole transaction may be tried
    again.
    """
    return isinstance(error, _LOST_RACE)


def is_bad_value(error: BaseException) -> bool:
    """Whether the statement can never succeed with these values."""
    return isinstance(error, _BAD_VALUES)


def parse_id(text: str) -> UUID:
    """A UUID of its text, as the driver makes them: a tenth of the time, equal to any other."""
    parsed: UUID = asyncpg.pgproto.pgproto.UUID(text)
    return parsed


T = TypeVar("T")


class Database:
    """The pool. It connects when first asked, so that a core starts while its database is away."""

    def __init__(self, settings: DatabaseSettings) -> None:
        self._settings = settings
        self._pool: asyncpg.Pool[asyncpg.Record] | None = None

    async def __aenter__(self) -> Self:
        self._pool = await asyncpg.create_pool(
            self._settings.url.get_secret_value(),
            min_size=0,
            max_size=self._settings.pool_size,
            command_timeout=COMMAND_TIMEOUT_SECONDS,
            timeout=_ACQUIRE_TIMEOUT_SECONDS,
            max_inactive_connection_lifetime=300,
            server_settings=_SERVER_SETTINGS,
            init=_prepare,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        pool = self._open_pool()
        try:
            async with asyncio.timeout(3.0):
                await pool.close()
        except TimeoutError:
            pool.terminate()

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator[Connection]:
        """A connection outside a transaction."""
        pool = self._open_pool()
        connection = await pool.acquire(timeout=_ACQUIRE_TIMEOUT_SECONDS)
        try:
            yield connection
        except BaseException as error:
            # After a timeout or a cancellation the server may still be busy with our statement, or
            # frozen.
            if isinstance(error, asyncio.CancelledError) or is_unavailable(error):
                _drop(connection)
            raise
        finally:
            await pool.release(connection, timeout=_ACQUIRE_TIMEOUT_SECONDS)

    @contextlib.asynccontextmanager
    async def transaction(self) -> AsyncIterator[Connection]:
        """A connection inside a transaction: committed at the end of the block, rolled back by an
        exception.
        """
        async with self.connection() as connection, connection.transaction():
            yield connection

    async def run(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        """Run `work` in a transaction, again from the start after a deadlock or a serialisation
        failure.
        """
        for attempt in range(_RETRIES):
            try:
                async with self.transaction() as connection:
                    return await work(connection)
            except _BROKEN_OFF as error:
                if attempt == _RETRIES - 1:
                    raise
                log.info("transaction lost a race, trying again", error=type(error).__name__)
                await asyncio.sleep(0.02 * 2**attempt)
        raise AssertionError

    def _open_pool(self) -> "asyncpg.Pool[asyncpg.Record]":
        if self._pool is None:
            msg = "the database is used outside its block"
            raise AssertionError(msg)
        return self._pool


def _drop(connection: Connection) -> None:
    """Never use it again. One that has ended by itself is in no hand any more, and says so."""
    with contextlib.suppress(asyncpg.InterfaceError):
        connection.terminate()


async def _prepare(connection: Any) -> None:
    # Binary, so that COPY can carry it too.
    await connection.set_type_codec(
        "jsonb", encoder=_encode_json, decoder=_decode_json, schema="pg_catalog", format="binary"
    )


# The binary form of jsonb is the text behind a version byte.
_JSONB_VERSION = b"\x01"


def _encode_json(value: object) -> bytes:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return _JSONB_VERSION + text.encode()


def _decode_json(data: bytes) -> Any:
    return json.loads(data[len(_JSONB_VERSION) :])
