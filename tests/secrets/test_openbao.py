"""Fields from OpenBao: each way in, tokens that end, and what is said when it does not work."""

import base64
import http.server
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
import trustme

from armka.secrets import openbao as openbao_module
from armka.secrets.openbao import SecretMissing, SecretsRefused, SecretsUnavailable
from armka.stack import OpenBaoServer
from tests.openbao import approle, client, put


async def seed_of(**settings: object) -> str:
    fields = await client(**settings).read()
    return fields["NATS__NATS_SEED"].get_secret_value()


async def test_by_token_and_by_approle_the_fields_are_read(
    openbao: OpenBaoServer, path: str, tmp_path: Path
) -> None:
    """A token, a role with its secret id, and with one in a file."""
    role = await approle(openbao)
    by_file = role | {"BAO_APPROLE_SECRET_ID": ""}
    by_file["BAO_APPROLE_SECRET_ID_FILE"] = str(tmp_path / "secret_id")
    (tmp_path / "secret_id").write_text(role["BAO_APPROLE_SECRET_ID"] + "\n")
    del by_file["BAO_APPROLE_SECRET_ID"]
    for way in (openbao.env(), role, by_file):
        assert await seed_of(BAO_SECRET_PATH=path, **way) == "SUA-canary"


@pytest.mark.parametrize(
    "fields",
    [
        {"OPENBAO__NATS__NATS_SEED": "S"},
        {"nats__nats_seed": "S"},
        {"nats": {"NATS_SEED": "S\n"}},
        {"openbao": {"nats": {"nats_seed": "S"}}},
    ],
)
async def test_a_field_is_found_however_it_is_nested(openbao: OpenBaoServer, fields: Any) -> None:
    """As the variable, without its prefix, or as nested objects; in the plainer secret too."""
    await put(openbao, "dressed/secrets", fields | {"number": 1})
    assert await seed_of(BAO_SECRET_PATH="dressed", **openbao.env()) == "S"


async def test_a_new_version_is_read_the_next_time(openbao: OpenBaoServer, path: str) -> None:
    """Nothing is remembered of the fields."""
    bao = client(BAO_SECRET_PATH=path, **await approle(openbao))
    await bao.read()
    await put(openbao, f"{path}/supersecrets", {"NATS__NATS_SEED": "next"})
    assert {name: it.get_secret_value() for name, it in (await bao.read()).items()} == {
        "NATS__NATS_SEED": "next"
    }


async def test_a_token_that_was_revoked_is_replaced_by_a_login(
    openbao: OpenBaoServer, path: str
) -> None:
    """Without a fault in between."""
    bao = client(BAO_SECRET_PATH=path, **await approle(openbao))
    await bao.read()
    assert bao._token is not None
    value = bao._token.value.get_secret_value()
    await openbao.call("POST", "auth/token/revoke", {"token": value})
    assert await bao.read()


async def test_a_token_is_renewed_before_its_end_and_after_it_replaced(
    openbao: OpenBaoServer, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same token while it can be renewed; where its longest life is over, a new login."""
    monkeypatch.setattr(openbao_module, "_RENEW_AT", 0.0)
    role = await approle(openbao, token_ttl="1h", token_max_ttl="1h")
    bao = client(BAO_SECRET_PATH=path, **role)
    values = []
    for _ in range(2):
        await bao.read()
        assert bao._token is not None
        values.append(bao._token.value.get_secret_value())
    await openbao.call("POST", "auth/token/revoke", {"token": values[-1]})
    await bao.read()
    assert bao._token is not None
    values.append(bao._token.value.get_secret_value())
    assert values[0] == values[1] != values[2]


async def test_what_is_refused_is_said_without_a_secret(
    openbao: OpenBaoServer, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong secret id, a role without the policy, a wrong token, a secret that is not there."""
    role = await approle(openbao)
    wrong = role | {"BAO_APPROLE_SECRET_ID": "canary-id"}
    powerless = await approle(openbao, token_policies="default")
    token = {"BAO_ADDR": openbao.url, "BAO_TOKEN": "canary-token"}
    said = []
    for way in (wrong, powerless, token):
        with pytest.raises(SecretsRefused) as refusal:
            await client(BAO_SECRET_PATH=path, **way).read()
        said.append(str(refusal.value))
    assert "to log in by auth/approle" in said[0]
    assert f"to read kv/{path}" in said[1]
    assert "403" in said[2]
    with pytest.raises(SecretMissing, match="kv/nowhere/supersecrets"):
        await client(BAO_SECRET_PATH="nowhere", **role).read()
    for secret in ("canary", role["BAO_APPROLE_SECRET_ID"]):
        assert secret not in " ".join(said)


async def test_after_a_refusal_nobody_logs_in_again_at_once(
    openbao: OpenBaoServer, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Be it the login that was refused, or what a fresh token may read; the reason stays."""
    wrong = await approle(openbao) | {"BAO_APPROLE_SECRET_ID": "wrong"}
    powerless = await approle(openbao, token_policies="default")
    for way, reason in ((wrong, "to log in"), (powerless, "to read")):
        bao = client(BAO_SECRET_PATH=path, **way)
        with pytest.raises(SecretsRefused, match=reason):
            await bao.read()
        monkeypatch.setattr(bao, "_login", lambda: pytest.fail("it tried again"))
        for _ in range(3):
            with pytest.raises(SecretsRefused, match=reason):
                await bao.read()


async def test_a_server_that_is_away_or_sealed_is_unavailable(tmp_path: Path) -> None:
    """And is read again once it is back."""
    server = OpenBaoServer(tmp_path / "openbao")
    async with server:
        await put(server, "arm-ka/secrets", {"NATS__NATS_SEED": "S"})
        bao = client(BAO_SECRET_PATH="arm-ka", **server.env())
        assert await bao.read()
        await server.call("POST", "sys/seal")
        with pytest.raises(SecretsUnavailable, match=r"cannot answer now.*sealed"):
            await bao.read()
    with pytest.raises(SecretsUnavailable, match="does not answer"):
        await bao.read()


class _Kubernetes(http.server.BaseHTTPRequestHandler):
    """The API server's part of a login: it reviews the token."""

    asked: ClassVar[list[str]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(body["spec"]["token"])
        user = {"username": "system:serviceaccount:bank:arm-ka-core", "uid": "1"}
        status = {"authenticated": True, "user": user}
        answer = json.dumps({"apiVersion": "authentication.k8s.io/v1", "status": status}).encode()
        self.send_response(201)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *args: object) -> None:
        """Nothing."""


@pytest.fixture
def kubernetes() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Kubernetes)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


async def test_by_the_pods_service_account_the_fields_are_read(
    openbao: OpenBaoServer, path: str, kubernetes: str, tmp_path: Path
) -> None:
    """OpenBao asks Kubernetes about the token of the file."""
    await openbao.call("POST", "sys/auth/kubernetes", {"type": "kubernetes"})
    config = {
        "kubernetes_host": kubernetes,
        "token_reviewer_jwt": "reviewer",
        "kubernetes_ca_cert": trustme.CA().cert_pem.bytes().decode(),
    }
    await openbao.call("POST", "auth/kubernetes/config", config)
    role = {
        "bound_service_account_names": ["arm-ka-core"],
        "bound_service_account_namespaces": ["bank"],
        "token_policies": ["reader"],
    }
    await openbao.call("POST", "auth/kubernetes/role/core", role)
    (tmp_path / "token").write_text(_service_account_token())
    way = {
        "BAO_ADDR": openbao.url,
        "BAO_KUBERNETES_ROLE": "core",
        "BAO_KUBERNETES_TOKEN_FILE": str(tmp_path / "token"),
    }
    assert await seed_of(BAO_SECRET_PATH=path, **way) == "SUA-canary"
    assert _Kubernetes.asked == [(tmp_path / "token").read_text()]


def _service_account_token() -> str:
    """A token in form; its signature is for the API server to judge."""
    account = {"namespace": "bank", "serviceaccount": {"name": "arm-ka-core", "uid": "1"}}
    claims = {
        "kubernetes.io": account,
        "sub": "system:serviceaccount:bank:arm-ka-core",
        "iss": "kubernetes",
        "iat": int(time.time()),
        "nbf": int(time.time()) - 60,
        "exp": int(time.time()) + 3600,
    }
    parts = [{"alg": "RS256", "typ": "JWT"}, claims]
    encoded = [
        base64.urlsafe_b64encode(json.dumps(it).encode()).decode().rstrip("=") for it in parts
    ]
    return ".".join([*encoded, base64.urlsafe_b64encode(b"x" * 256).decode().rstrip("=")])
