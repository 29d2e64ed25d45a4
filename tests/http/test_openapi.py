"""The OpenAPI document: complete, readable offline, and what the API really does."""

import asyncio
import contextlib
import html
import re
from typing import Any

import asyncpg
import httpx
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from hypothesis.strategies import SearchStrategy
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.files import documents
from tests.http.serving import QuietCore, upload

PATHS = {
    "/healthcheck",
    "/livez",
    "/readyz",
    "/metrics",
    "/api/v1/files",
    "/api/v1/files/{file_id}",
    "/api/v1/files/{file_id}/source",
    "/api/v1/files/{file_id}/lines",
    "/api/v1/files/{file_id}/lines.csv",
    "/api/v1/files/{file_id}/lines.xlsx",
    "/api/v1/files/{file_id}/lines.json",
    "/api/v1/files/{file_id}/documents/{ordinal}",
    "/api/v1/files/{file_id}/documents/{ordinal}/lines",
    "/api/v1/files/{file_id}/documents/{ordinal}/corrections",
    "/api/v1/files/{file_id}/documents/{ordinal}/proposals/accept",
    "/api/v1/files/{file_id}/documents/{ordinal}/source",
    "/api/v1/files/{file_id}/documents/{ordinal}/pages/{page}",
    "/api/v1/files/{file_id}/documents/{ordinal}/pages/{page}/picture",
    "/api/v1/files/{file_id}/confirm",
    "/api/v1/files/{file_id}/reopen",
    "/api/v1/files/{file_id}/attempts",
    "/api/v1/files/{file_id}/timeline",
    "/api/v1/files/{file_id}/documents/{ordinal}/continuity",
    "/api/v1/files/{file_id}/changes",
    "/api/v1/files/{file_id}/documents/{ordinal}/carry-over",
    "/api/v1/continuity",
    "/api/v1/files/{file_id}/withdraw",
    "/api/v1/files/{file_id}/restore",
    "/api/v1/attempts/bulk",
    "/api/v1/operations/{operation_id}",
    "/api/v1/operations/{operation_id}/items",
    "/api/v1/jobs",
    "/api/v1/jobs/{job_id}",
    "/api/v1/jobs/{job_id}/messages",
    "/api/v1/rejected-messages",
    "/api/v1/rejected-messages/{message_id}",
    "/api/v1/me",
    "/api/v1/me/password",
    "/api/v1/users",
    "/api/v1/users/{user_id}",
    "/api/v1/users/{user_id}/roles",
    "/api/v1/users/{user_id}/password",
    "/api/v1/users/{user_id}/disable",
    "/api/v1/users/{user_id}/enable",
    "/api/v1/users/{user_id}/sign-out",
    "/api/v1/users/{user_id}/sign-in-link",
    "/api/v1/tokens",
    "/api/v1/tokens/{token_id}/revoke",
    "/api/v1/audit",
}

CASES_EACH = 4
POSITIVE, NEGATIVE = schemathesis.GenerationMode
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
# Prove no more by being asked often, and ask every server.
STILL = {"/healthcheck", "/livez", "/readyz", "/metrics"}


async def _document(api: httpx.AsyncClient) -> dict[str, Any]:
    address = str(api.base_url).replace("/api/v1/", "/openapi.json")
    document: dict[str, Any] = (await api.get(address)).raise_for_status().json()
    return document


async def test_the_openapi_document_describes_the_api(api: httpx.AsyncClient) -> None:
    """All routes, the form of an upload, problems as what they are; all references resolve."""
    document = await _document(api)
    assert document["openapi"].startswith("3.1")
    assert document["paths"].keys() == PATHS
    form = document["paths"]["/api/v1/files"]["post"]["requestBody"]["content"]
    assert form["multipart/form-data"]["schema"]["required"] == ["file"]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            assert operation["summary"]
            assert "HTTPValidationError" not in str(operation)
            if path.startswith("/api"):
                _assert_problems(operation["responses"])
    for reference in _references(document):
        place: Any = document
        for step in reference.removeprefix("#/").split("/"):
            place = place[step]


def _assert_problems(answers: dict[str, Any]) -> None:
    assert {"400", "401", "500", "503", "default"} <= answers.keys()
    for status, answer in answers.items():
        if status == "default" or status >= "4":
            (content,) = answer["content"].items()
            assert content[0] == "application/problem+json"
            if status != "default":
                assert content[1]["example"]["status"] == int(status)


def _references(node: Any) -> list[str]:
    if isinstance(node, list):
        return [found for item in node for found in _references(item)]
    if isinstance(node, dict):
        own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
        return own + [found for item in node.values() for found in _references(item)]
    return []


async def test_the_docs_page_needs_nothing_from_outside(api: httpx.AsyncClient) -> None:
    """Every operation and schema is on it; it loads nothing, and every link of its own leads on."""
    document = await _document(api)
    response = await api.get(str(api.base_url).replace("/api/v1/", "/docs"))
    page = response.text
    assert response.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in response.headers["content-security-policy"]
    for path in PATHS:
        assert html.escape(path) in page
    for name in document["components"]["schemas"]:
        assert f'id="schema-{name}"' in page
    assert not re.search(r"<script|<link|<img|src=|@import|url\(|https?://", page)
    for target in re.findall(r'href="#([^"]+)"', page):
        assert f'id="{target}"' in page


async def test_generated_requests_meet_no_surprise(
    quiet_core: QuietCore, api: httpx.AsyncClient, db: asyncpg.Connection
) -> None:
    """Whatever is sent, no 5xx, and no status or body that the document does not tell of."""
    ids = (await upload(api, "a.xlsx", documents.xlsx())).json()
    # Of a file that is under way, `wait` would wait.
    await db.execute("update recognition_job set status = 'error' where id = $1", ids["job_id"])
    await db.execute("update stored_file set status = 'ERROR' where id = $1", ids["file_id"])
    document = await _document(api)
    for operations in document["paths"].values():
        for operation in operations.values():
            # `default` would cover every status; it is for what is not foreseen.
            operation["responses"].pop("default", None)
    schema = schemathesis.openapi.from_dict(document)
    schema.config.update(base_url=quiet_core.url)
    sent = await asyncio.to_thread(_try_all, schema, ids)
    assert sent > 200


def _try_all(schema: Any, ids: dict[str, str]) -> int:
    """Call every operation with good and bad requests; returns how many were sent."""
    sent = 0
    for result in schema.get_all_operations():
        operation = result.ok()
        known = {name: ids[name] for name in ids if f"{{{name}}}" in operation.path}
        for mode, path in ((POSITIVE, None), (POSITIVE, known), (NEGATIVE, None)):
            if path != {} and operation.path not in STILL:
                sent += _try(operation.as_strategy(mode, path_parameters=path))
    return sent


def _try(cases: SearchStrategy[Any]) -> int:
    sent = 0

    @settings(
        max_examples=CASES_EACH,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def send(case: Any) -> None:
        nonlocal sent
        sent += 1
        case.call_and_validate(checks=CHECKS, timeout=20)

    # Of a request without any parameter there is no bad one.
    with contextlib.suppress(Unsatisfiable):
        send()
    return sent
