"""A core under test with its own database, NATS and S3, run by the suite: the kit's operator."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import httpx

from armka.conformance.target import Power, Target
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.stack import NatsServer, ObjectServer
from armka.stack.ports import free_ports
from tests.world import until

# The suite is in a hurry.
QUICK: Mapping[str, float | str] = {
    "OUTBOX_POLL_SECONDS": 0.5,
    "MAPPING_POLL_SECONDS": 0.5,
    "WATCHDOG_PERIOD_SECONDS": 0.5,
}
REAL_CORE = ("-m", "armka.cli")
SHARED_POWERS = frozenset({Power.HEALTH, Power.RETRY, Power.SUPERUSER})


@dataclass
class CoreProcess:
    """A running core."""

    process: subprocess.Popen[bytes]
    url: str
    log: Path

    async def ended(self) -> int:
        """Its exit code."""
        return int(await until(self._status, seconds=40)) - 1000

    async def _status(self) -> int | None:
        status = self.process.poll()
        return None if status is None else status + 1000

    async def ready(self) -> None:
        """Return when it serves, and has its connection where it wants one."""
        await until(self._takes_part)

    async def _takes_part(self) -> bool:
        assert self.process.poll() is None, self.log.read_text()
        with contextlib.suppress(httpx.HTTPError):
            async with httpx.AsyncClient(trust_env=False, timeout=2) as http:
                health = await http.get(f"{self.url}/healthcheck")
            return bool(health.json()["nats"] != "disconnected")
        return False


@dataclass
class Stage:
    """Servers and cores; bound to no event loop. `program`: how Python is told to run a core."""

    folder: Path
    database_url: str
    nats: NatsServer
    objects: ObjectServer
    settings: Mapping[str, float | str]
    program: Sequence[str] = REAL_CORE
    cores: list[CoreProcess] = field(default_factory=list)

    def target(self, powers: frozenset[Power], patience_seconds: float = 20.0) -> Target:
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
        (port,) = free_ports(1)
        log = self.folder / f"core{len(self.cores)}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(  # noqa: ASYNC220 - returns at once, and belongs to no loop
                [sys.executable, *self.program, "core", "--port", str(port)],
                env=self._environment(),
                stdout=output,
                stderr=output,
            )
        core = CoreProcess(process, f"http://127.0.0.1:{port}", log)
        self.cores.append(core)
        await core.ready()

    def _environment(self) -> dict[str, str]:
        base = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
        base["PYTHONPATH"] = os.pathsep.join(sys.path)
        servers = self.nats.env() | self.objects.env() | {"DATABASE_URL": self.database_url}
        return base | servers | self._told()

    def _told(self) -> dict[str, str]:
        return {name: str(value) for name, value in self.settings.items()}

    async def stop_cores(self) -> list[int]:
        """See Operator."""
        cores, self.cores = self.cores, []
        for core in cores:
            core.process.send_signal(signal.SIGTERM)
        return [await core.ended() for core in cores]

    async def kill_cores(self) -> None:
        """See Operator."""
        cores, self.cores = self.cores, []
        for core in cores:
            core.process.kill()
            await core.ended()

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
        async with httpx.AsyncClient(trust_env=False) as http:
            return (await http.get(f"{self.cores[0].url}/healthcheck")).status_code

    async def retry(self, file_id: UUID) -> int:
        """See Operator."""
        async with httpx.AsyncClient(trust_env=False) as http:
            url = f"{self.cores[0].url}/api/v1/files/{file_id}/attempts"
            return (await http.post(url)).status_code

    def said(self) -> str:
        """The logs of all cores, for a failure's report."""
        return "\n".join(log.read_text() for log in sorted(self.folder.glob("core*.log")))
