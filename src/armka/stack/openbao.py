"""OpenBao in its development mode: unsealed, in memory, with KV version 2 at `kv/`."""

import asyncio
import http.client
import json
from http import HTTPStatus
from pathlib import Path
from typing import Any, ClassVar

from armka.stack.binaries import bao_program
from armka.stack.folder import secret
from armka.stack.identity import AS_IS, Command, Identity
from armka.stack.ports import LOOPBACK
from armka.stack.server import Server

_SECONDS = 5.0


class OpenBaoServer(Server):
    """An OpenBao server. What it holds is gone when it ends; its root token is kept."""

    name: ClassVar[str] = "openbao"

    def __init__(self, home: Path, *, log: Path | None = None) -> None:
        super().__init__(home, log=log)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def root_token(self) -> str:
        """May do everything."""
        return secret(self.home, "root_token")

    def env(self) -> dict[str, str]:
        return {"BAO_ADDR": self.url, "BAO_TOKEN": self.root_token}

    async def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """One request as root, such as `PUT sys/auth/approle`; its answer."""
        return await asyncio.to_thread(self._call, method, path, body)

    async def _prepare(self) -> Identity:
        return AS_IS

    def _command(self) -> Command:
        argv = (
            str(bao_program()),
            "server",
            "-dev",
            "-dev-no-store-token",
            f"-dev-listen-address={LOOPBACK}:{self.port}",
        )
        env = (("BAO_DEV_ROOT_TOKEN_ID", self.root_token), ("HOME", str(self.home)))
        return Command(argv, self.home, self.log, env)

    async def _is_ready(self) -> bool:
        """It is unsealed and has `kv/`, which the first look at a fresh server makes."""
        try:
            mounts = await self.call("GET", "sys/mounts")
            if "kv/" in mounts.get("data", {}):
                return True
            await self.call("POST", "sys/mounts/kv", {"type": "kv", "options": {"version": "2"}})
        except (OSError, http.client.HTTPException):
            return False
        return False

    def _call(self, method: str, path: str, body: object) -> dict[str, Any]:
        connection = http.client.HTTPConnection(LOOPBACK, self.port, timeout=_SECONDS)
        try:
            headers = {"X-Vault-Token": self.root_token}
            sent = None if body is None else json.dumps(body)
            connection.request(method, f"/v1/{path}", sent, headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status >= HTTPStatus.BAD_REQUEST:
            raise ConnectionError(f"{method} {path}: {answer.status} {content.decode()}")
        return json.loads(content) if content else {}
