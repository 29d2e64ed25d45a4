"""NATS with JetStream on a file store."""

import asyncio
import json
from pathlib import Path
from typing import ClassVar

from armka.stack.binaries import nats_program
from armka.stack.folder import replace_private
from armka.stack.identity import AS_IS, Command, Identity
from armka.stack.ports import LOOPBACK
from armka.stack.server import Server

_PROBE = b'CONNECT {"verbose":false,"pedantic":false,"name":"armka-stack"}\r\nPING\r\n'


class NatsServer(Server):
    """A NATS server.

    `config` is more text for its configuration file: accounts, limits, permissions.
    """

    name: ClassVar[str] = "nats"

    def __init__(
        self, home: Path, *, log: Path | None = None, fsync: bool = True, config: str = ""
    ) -> None:
        """With `fsync`, JetStream acknowledges what is on the disk; else it syncs every 2 min."""
        super().__init__(home, log=log)
        self._fsync, self._config = fsync, config

    @property
    def url(self) -> str:
        return f"nats://{LOOPBACK}:{self.port}"

    def env(self) -> dict[str, str]:
        return {"NATS_URL": self.url}

    async def _prepare(self) -> Identity:
        return AS_IS

    def _command(self) -> Command:
        config = self.home / "nats.conf"
        replace_private(config, self._config_text())
        return Command((str(nats_program()), "--config", str(config)), self.home, self.log)

    def _config_text(self) -> str:
        store = _quoted(str(self.home / "jetstream"))
        sync = "sync_interval: always" if self._fsync else ""
        listen = f"listen: {LOOPBACK}:{self.port}\n"
        return f"{listen}jetstream {{ store_dir: {store}\n {sync} }}\n{self._config}\n"

    async def _is_ready(self) -> bool:
        """The server greets, and answers PING; JetStream is recovered before it listens."""
        try:
            async with asyncio.timeout(1):
                reader, writer = await asyncio.open_connection(LOOPBACK, self.port)
                try:
                    greeting = await reader.readline()
                    writer.write(_PROBE)
                    answer = await reader.readline()
                finally:
                    writer.close()
                    await writer.wait_closed()
        except (ConnectionError, TimeoutError):
            return False
        # With `config` that asks for TLS or credentials, the refusal is an answer too.
        return greeting.startswith(b"INFO ") and (
            b'"tls_required":true' in greeting
            or answer.startswith((b"PONG", b"-ERR 'Authorization"))
        )


def _quoted(text: str) -> str:
    """A string of the configuration file; it knows no escapes for letters, and needs none."""
    return json.dumps(text, ensure_ascii=False)
