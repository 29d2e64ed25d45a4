"""A core under test with its own database, NATS and S3, run by the suite: the kit's operator."""

import asyncio
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

from armka.conformance.target import Power, Target
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.stack import NatsServer, ObjectServer
from tests import forked, web
from tests.world import CoreProcess

# The suite is in a hurry.
QUICK: Mapping[str, float | str] = {
    "OUTBOX_POLL_SECONDS": 0.5,
    "MAPPING_POLL_SECONDS": 0.5,
    "WATCHDOG_PERIOD_SECONDS": 0.5,
}
SHARED_POWERS = frozenset({Power.HEALTH, Power.RETRY, Power.SUPERUSER})


@dataclass
class Stage:
    """Servers and cores; bound to no event loop. `mutant`: the fault of its cores."""

    folder: Path
    database_url: str
    nats: NatsServer
    objects: ObjectServer
    settings: Mapping[str, float | str]
    mutant: str | None = None
    cores: list[CoreProcess] = field(default_factory=list)

    def target(self, powers: frozenset[Power], patience_seconds: float = 60.0) -> Target:
        """What the kit is told."""
        return Target(
            self.database_url,
            NatsSettings.model_validate(self.nats.env() | self._told()),
            ObjectSettings.model_validate(self.objects.env()),
            self.settings,
            powers,
            self,
            patience_seconds,
        )

    async def start_core(self) -> None:
        """See Operator."""
        port = _free_port()
        log = self.folder / f"core-{port}.log"
        arguments = ("core", "--port", str(port))
        process = forked.start(arguments, self._environment(), log, self.mutant)
        core = CoreProcess(process, f"http://127.0.0.1:{port}", log)
        self.cores.append(core)
        await core.ready()

    def _environment(self) -> dict[str, str]:
        base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        servers = self.nats.env() | self.objects.env() | {"DATABASE_URL": self.database_url}
        return base | servers | self._told()

    def _told(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.settings.items()}

    async def stop_cores(self) -> list[int]:
        """See Operator."""
        running, self.cores = self.cores, []
        return await asyncio.gather(*(core.stop() for core in running))

    async def kill_cores(self) -> None:
        """See Operator."""
        running, self.cores = self.cores, []
        for core in running:
            core.kill()
            await core.process.wait()

    async def stop_nats(self) -> None:
        """See Operator."""
        await self.nats.stop()

    async def start_nats(self) -> None:
        """See Operator."""
        await self.nats.start()

    def freeze_nats(self) -> None:
        """See Operator."""
        self.nats.pause()

    def thaw_nats(self) -> None:
        """See Operator."""
        self.nats.resume()

    async def stop_objects(self) -> None:
        """See Operator."""
        await self.objects.stop()

    async def start_objects(self) -> None:
        """See Operator."""
        await self.objects.start()

    async def health(self) -> int:
        """See Operator."""
        async with web.client() as http:
            return (await http.get(f"{self.cores[0].url}/healthcheck")).status_code

    async def retry(self, file_id: UUID) -> int:
        """See Operator."""
        async with web.client() as http:
            url = f"{self.cores[0].url}/api/v1/files/{file_id}/attempts"
            return (await http.post(url)).status_code

    def said(self) -> str:
        """The logs of all cores, for a failure's report."""
        return "\n".join(log.read_text() for log in sorted(self.folder.glob("core-*.log")))


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
