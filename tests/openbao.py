"""An OpenBao for the session, with a secret and ways in."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from armka.secrets.openbao import OpenBao
from armka.secrets.settings import OpenBaoSettings
from armka.stack import OpenBaoServer
from tests.servers import apart


@pytest.fixture(scope="session")
def openbao(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OpenBaoServer]:
    """The session's OpenBao with AppRole. A test that harms the server starts its own."""
    server = OpenBaoServer(tmp_path_factory.mktemp("servers") / "openbao")
    apart(server.start)
    apart(lambda: allow_approle(server))
    try:
        yield server
    finally:
        apart(server.stop)


async def allow_approle(server: OpenBaoServer) -> None:
    """AppRole, and the policy `reader` for everything below kv/."""
    await server.call("POST", "sys/auth/approle", {"type": "approle"})
    policy = 'path "kv/data/*" { capabilities = ["read"] }'
    await server.call("PUT", "sys/policies/acl/reader", {"policy": policy})


async def approle(server: OpenBaoServer, **role: object) -> dict[str, str]:
    """A role of its own; the settings that log in with it."""
    name = uuid4().hex
    path = f"auth/approle/role/{name}"
    await server.call("POST", path, {"token_policies": "reader", **role})
    role_id = (await server.call("GET", f"{path}/role-id"))["data"]["role_id"]
    secret_id = (await server.call("POST", f"{path}/secret-id"))["data"]["secret_id"]
    return {
        "BAO_ADDR": server.url,
        "BAO_APPROLE_ROLE_ID": role_id,
        "BAO_APPROLE_SECRET_ID": secret_id,
    }


async def put(server: OpenBaoServer, path: str, fields: object) -> None:
    """Write a version of a secret."""
    await server.call("POST", f"kv/data/{path}", {"data": fields})


def client(**settings: object) -> OpenBao:
    return OpenBao(OpenBaoSettings.model_validate(settings))


@pytest.fixture
async def path(openbao: OpenBaoServer) -> str:
    """The path of a secret of this test's own, with the fields of NATS."""
    name = f"arm-ka/{uuid4().hex}"
    fields = {"NATS__NATS_SEED": "SUA-canary", "NATS__NATS_JWT": "eyJ-canary"}
    await put(openbao, f"{name}/supersecrets", fields)
    return name
