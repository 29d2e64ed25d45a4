"""S3: SeaweedFS in its all-in-one form."""

import asyncio
import http.client
import shutil
from http import HTTPStatus
from pathlib import Path
from typing import ClassVar

from armka.stack.binaries import weed_program
from armka.stack.folder import secret
from armka.stack.identity import AS_IS, Command, Identity
from armka.stack.ports import LOOPBACK
from armka.stack.s3_request import S3Keys, request
from armka.stack.server import Server

BUCKET = "arm-ka"
_SOCKETS = Path("/tmp")  # noqa: S108 - where SeaweedFS insists on putting some
_PORT_FLAGS = (
    "s3.port",
    "s3.port.grpc",
    "master.port",
    "master.port.grpc",
    "filer.port",
    "filer.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "admin.port",
    "admin.port.grpc",
)
_FLAGS = (
    f"-bucket={BUCKET}",
    f"-ip={LOOPBACK}",
    f"-ip.bind={LOOPBACK}",
    "-volume.preStopSeconds=0",
    "-master.telemetry=false",
    # A resumed master is no leader for a moment; a volume server that meets it then waits 5 s.
    "-master.resumeState=false",
    "-webdav=false",
    "-admin.ui=false",
    "-s3.port.iceberg=0",
    "-s3.port.lance=0",
    "-filer.localSocket=filer.sock",
    "-s3.localSocket=s3.sock",
)


def _socket_names(port: int) -> str:
    return f"seaweedfs-*-{port}.sock"


class ObjectServer(Server):
    """An S3 server with the bucket `arm-ka` and one pair of random keys."""

    name: ClassVar[str] = "s3"
    port_count: ClassVar[int] = len(_PORT_FLAGS)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def keys(self) -> S3Keys:
        """What signs requests."""
        access_key_id = secret(self.home, "access_key_id")[:20].upper()
        return S3Keys(access_key_id, secret(self.home, "secret_access_key"))

    def env(self) -> dict[str, str]:
        keys = self.keys
        return {
            "S3_ENDPOINT_URL": self.url,
            "S3_BUCKET": BUCKET,
            "S3_ACCESS_KEY_ID": keys.access_key_id,
            "S3_SECRET_ACCESS_KEY": keys.secret_access_key,
            "S3_REGION": keys.region,
        }

    async def _prepare(self) -> Identity:
        """Keep the objects, drop what the last run remembers of its ports."""
        data = self.home / "data"
        data.mkdir(mode=0o700, exist_ok=True)
        (data / "mini.options").unlink(missing_ok=True)
        for state in data.glob("m[0-9]*"):
            await asyncio.to_thread(shutil.rmtree, state)
        return AS_IS

    def _command(self) -> Command:
        keys = self.keys
        ports = (f"-{flag}={port}" for flag, port in zip(_PORT_FLAGS, self.ports, strict=True))
        argv = (str(weed_program()), "-logtostderr", "mini", f"-dir={self.home / 'data'}")
        env = (
            ("AWS_ACCESS_KEY_ID", keys.access_key_id),
            ("AWS_SECRET_ACCESS_KEY", keys.secret_access_key),
        )
        sockets = tuple(str(_SOCKETS / _socket_names(port)) for port in self.ports)
        return Command((*argv, *_FLAGS, *ports), self.home, self.log, env, sweep=sockets)

    def _suits(self, port: int) -> bool:
        """Another user's killed server may have left sockets that this one could not replace."""
        return not any(_SOCKETS.glob(_socket_names(port)))

    async def _is_ready(self) -> bool:
        """An object can be written, read and deleted: that works some time after it listens."""
        return await asyncio.to_thread(self._round_trip)

    def _round_trip(self) -> bool:
        path, content, keys = f"/{BUCKET}/.ready", b"armka", self.keys
        try:
            put, _ = request(self.port, keys, "PUT", path, content)
            got = request(self.port, keys, "GET", path)
            deleted, _ = request(self.port, keys, "DELETE", path)
        except (ConnectionError, TimeoutError, http.client.HTTPException):
            return False
        return (put, got, deleted) == (
            HTTPStatus.OK,
            (HTTPStatus.OK, content),
            HTTPStatus.NO_CONTENT,
        )
