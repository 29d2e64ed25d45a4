import asyncio
import socket
import subprocess
import sys
import urllib.request
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from stage import Core, Running, running

from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.objects.store import ObjectStore, StoreUnavailable

BIN = Path(sys.executable).parent


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Server:
    def __init__(self, argv, cwd, env=None, ready=None, ports=()):
        self.argv, self.cwd, self.env, self.ready = argv, cwd, env, ready

    def start(self):
        import os, time
        self.p = subprocess.Popen(self.argv, cwd=self.cwd, env={**os.environ, **(self.env or {})},
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        for _ in range(600):
            try:
                with urllib.request.urlopen(self.ready, timeout=1) as r:
                    if r.status < 300: return self
            except OSError: pass
            time.sleep(0.05)
        raise RuntimeError

    def kill(self):
        self.p.kill(); self.p.wait()


@pytest.fixture
def nats_server(tmp_path):
    port, mon = free_port(), free_port()
    s = Server([BIN / "nats-server", "-a", "127.0.0.1", "-p", str(port), "-m", str(mon), "-js", "-sd", str(tmp_path / "js")],
        tmp_path, ready=f"http://127.0.0.1:{mon}/healthz").start()
    s.url = f"nats://127.0.0.1:{port}"
    yield s
    s.kill()


def weed(root):
    s3, *ports = (free_port() for _ in range(8))
    names = ("master.port", "filer.port", "volume.port", "admin.port", "master.port.grpc", "filer.port.grpc", "volume.port.grpc")
    s = Server([BIN / "weed", "-logtostderr", "mini", f"-dir={root}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-s3.port={s3}", "-volume.preStopSeconds=0", "-webdav=false", "-admin.ui=false",
        "-bucket=arm-ka", "-s3.port.iceberg=0", "-s3.port.lance=0", *(f"-{k}={p}" for k, p in zip(names, ports))], root,
        env={"AWS_ACCESS_KEY_ID": "arm", "AWS_SECRET_ACCESS_KEY": "armsecret"}, ready=f"http://127.0.0.1:{s3}/healthz").start()
    s.endpoint = f"http://127.0.0.1:{s3}"
    return s


@pytest.fixture(scope="session")
def object_store_server(tmp_path_factory):
    s = weed(tmp_path_factory.mktemp("s3"))
    yield s
    s.kill()


def s3_settings(server):
    return ObjectSettings(endpoint_url=server.endpoint, bucket="arm-ka", access_key_id="arm", secret_access_key="armsecret")


@pytest.fixture
def object_settings(object_store_server) -> ObjectSettings:
    return s3_settings(object_store_server)


@pytest.fixture
def nats_settings(nats_server) -> NatsSettings:
    return NatsSettings(url=nats_server.url)


@pytest.fixture
async def core(nats_server, object_settings) -> AsyncIterator[Core]:
    """The test in the core's place."""
    store = ObjectStore(object_settings)
    for _ in range(100):
        try:
            await store.put("uploads/ready", b"")
            break
        except StoreUnavailable:
            await asyncio.sleep(0.1)
    core = Core(nats_server.url, store)
    await core.connect()
    yield core
    await core.close()


@pytest.fixture
async def service(nats_settings, object_settings, core) -> AsyncIterator[Running]:
    """The trial service with the usual settings."""
    async with running(nats_settings, object_settings) as it:
        yield it
