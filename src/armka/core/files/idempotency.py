"""`Idempotency-Key`: the same request again gets the first answer and has no second effect.

The row of a key is written by the transaction that has the effect: either both are there or neither
is, whichever replica did it, and whoever says the same at once waits for that transaction to end.
"""

import hashlib
import json
from dataclasses import dataclass, replace
from typing import Any, Self

from armka.core.database.pool import Connection, Database
from armka.core.database.queries import load
from armka.core.errors import KeyReused

SQL = load(__package__, "idempotency.sql")

_FORGET_AT_ONCE = 1000


@dataclass(frozen=True)
class IdempotentRequest:
    """A key, what it was sent to, and what tells its request from others.

    `item` counts the documents of a request with several.
    """

    scope: str
    key: str
    item: int = 0
    digest: str = ""

    def of(self, *content: object, item: int = 0) -> Self:
        """The same key with this content."""
        words = json.dumps(content, default=str, ensure_ascii=False)
        return replace(self, item=item, digest=hashlib.sha256(words.encode()).hexdigest())

    async def recall(self, connection: Connection) -> Any | None:
        """The first answer, where there is one; raises KeyReused where it answers another
        request.
        """
        row = await connection.fetchrow(SQL.recall, self.scope, self.key, self.item)
        if row is None:
            return None
        if row["request_digest"] != self.digest:
            raise KeyReused(self.key)
        return row["answer"]

    async def claim(self, connection: Connection) -> bool:
        """Take the key for this transaction; False where somebody has had it."""
        values = (self.scope, self.key, self.item, self.digest)
        return await connection.fetchval(SQL.claim, *values) is not None

    async def keep(self, connection: Connection, answer: dict[str, Any]) -> None:
        """Keep the answer of the transaction that claimed the key."""
        await connection.execute(SQL.keep, self.scope, self.key, self.item, answer)


async def forget_old_keys(database: Database) -> int:
    """Remove keys older than two days, a chunk at a time; returns how many."""
    forgotten = 0
    while True:
        async with database.connection() as connection:
            chunk: int = await connection.fetchval(SQL.forget, _FORGET_AT_ONCE)
        forgotten += chunk
        if chunk < _FORGET_AT_ONCE:
            return forgotten
