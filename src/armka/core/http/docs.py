"""`/docs`: the OpenAPI document as one page of plain HTML. It loads nothing and runs nothing."""

import json
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
h2 { margin-top: 2.5rem; border-bottom: 1px solid #8888 } code, pre { font-size: .9em }
pre { overflow-x: auto; padding: .6rem; background: #8882; border-radius: .3rem }
table { border-collapse: collapse; width: 100% } th { font-weight: 600 }
td, th { text-align: left; padding: .2rem .8rem .2rem 0; vertical-align: top }
.verb { font-weight: 700; display: inline-block; width: 4rem }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd } a { color: #8bf } }
"""
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "X-Content-Type-Options": "nosniff",
}


def router(openapi: Callable[[], dict[str, Any]]) -> APIRouter:
    """The page."""
    api = APIRouter()

    @api.get("/docs", response_class=HTMLResponse, include_in_schema=False)
    async def docs() -> HTMLResponse:
        return HTMLResponse(page(openapi()), headers=_HEADERS)

    return api


def page(document: dict[str, Any]) -> str:
    """Render an OpenAPI document."""
    info = document["info"]
    operations = [
        (path, verb, operation)
        for path, verbs in document["paths"].items()
        for verb, operation in verbs.items()
    ]
    body = "".join(
        [
            f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>",
            f"<p>{escape(info.get('description', ''))}</p>",
            '<p>The same for programs: <a href="/openapi.json">openapi.json</a>.</p>',
            _contents(operations),
            *(_operation(*operation) for operation in operations),
            "<h1>Schemas</h1>",
            *_schemas(document["components"]["schemas"]),
        ]
    )
    title = f"<title>{escape(info['title'])}</title><style>{_STYLE}</style>"
    return f'<!doctype html><html lang="en"><meta charset="utf-8">{title}{body}</html>'


def _contents(operations: list[tuple[str, str, dict[str, Any]]]) -> str:
    rows = (
        f'<li><a href="#{_anchor(path, verb)}"><span class="verb">{verb.upper()}</span>'
        f"<code>{escape(path)}</code></a> {escape(operation.get('summary', ''))}</li>"
        for path, verb, operation in operations
    )
    return f"<ul>{''.join(rows)}</ul>"


def _operation(path: str, verb: str, operation: dict[str, Any]) -> str:
    parts = [
        f'<h2 id="{_anchor(path, verb)}">{verb.upper()} <code>{escape(path)}</code></h2>',
        *(f"<p>{escape(text)}</p>" for text in operation.get("description", "").split("\n\n")),
        _parameters(operation.get("parameters", [])),
    ]
    for kind, content in operation.get("requestBody", {}).get("content", {}).items():
        parts.append(f"<h3>Body: {escape(kind)}</h3>{_schema(content.get('schema', {}))}")
    return "".join([*parts, "<h3>Answers</h3>", _answers(operation["responses"])])


def _parameters(parameters: list[dict[str, Any]]) -> str:
    if not parameters:
        return ""
    rows = (
        f"<tr><td><code>{escape(item['name'])}</code></td><td>{escape(item['in'])}"
        f"{', required' if item.get('required') else ''}</td>"
        f"<td>{escape(item.get('description', ''))}</td>"
        f"<td><code>{escape(_kind(item['schema']))}</code></td></tr>"
        for item in parameters
    )
    return f"<h3>Parameters</h3><table>{''.join(rows)}</table>"


def _answers(answers: dict[str, Any]) -> str:
    rows = []
    for status, answer in answers.items():
        kinds = "".join(
            f"<div><code>{escape(kind)}</code> {_schema_link(content.get('schema', {}))}</div>"
            for kind, content in answer.get("content", {}).items()
        )
        described = escape(answer["description"])
        rows.append(f"<tr><th>{escape(status)}</th><td>{described}</td><td>{kinds}</td></tr>")
    return f"<table>{''.join(rows)}</table>"


def _schemas(schemas: dict[str, Any]) -> Iterator[str]:
    for name, schema in schemas.items():
        yield f'<h2 id="schema-{escape(name)}">{escape(name)}</h2>'
        yield f"<p>{escape(schema.get('description', ''))}</p>{_schema(schema)}"


def _schema(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _schema_link(schema)
    required = schema.get("required", [])
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code>{'' if name in required else ' (optional)'}</td>"
        f"<td>{_schema_link(item) or f'<code>{escape(_kind(item))}</code>'}</td>"
        f"<td>{escape(item.get('description', ''))}</td></tr>"
        for name, item in schema.get("properties", {}).items()
    )
    return f"<table>{rows}</table>" if rows else f"<pre>{escape(json.dumps(schema))}</pre>"


def _schema_link(schema: dict[str, Any]) -> str:
    reference = schema.get("$ref") or schema.get("items", {}).get("$ref")
    if reference is None:
        return ""
    name = escape(reference.rpartition("/")[2])
    return f'<a href="#schema-{name}">{name}{"[]" if "items" in schema else ""}</a>'


def _kind(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " | ".join(_kind(item) for item in schema["anyOf"])
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    words = schema.get("format") or schema.get("type") or "any"
    bounds = {k: schema[k] for k in ("minimum", "maximum", "maxLength", "default") if k in schema}
    told = ", ".join(f"{name} {value}" for name, value in bounds.items())
    return f"{words} ({told})" if told else str(words)


def _anchor(path: str, verb: str) -> str:
    return escape(f"{verb}{path}".replace("/", "-").replace("{", "").replace("}", ""))
