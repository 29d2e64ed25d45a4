"""The AsyncAPI 3 document of the contract, made of its schemas, subjects and examples.

`python tools/asyncapi.py FOLDER` writes FOLDER/asyncapi.yaml and FOLDER/asyncapi.html.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import yaml

from armka.contract import message_ids, schema_files
from armka.contract.outcome import OutcomeKind
from armka.contract.subjects import DEFAULTS, Transport

Node = dict[str, Any]

JOB = "d9b0fd9a-5b5e-4c0e-9d34-7a2f5f3b1c11"


def document() -> Node:
    """The whole of it, each schema embedded whole."""
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "arm-ka: the exchange of the core with recognition services",
            "version": "1.0.0",
            "description": (
                "A service hears requests, acknowledges each at once with `processing`, writes the "
                "result file to S3 and then sends its result. The core and the services meet here "
                "and nowhere else. What binds beside the shapes stands in README.md."
            ),
            "license": {"name": "Apache-2.0"},
        },
        "defaultContentType": "application/json",
        "servers": {
            str(transport): {"host": "127.0.0.1:4222", "protocol": "nats", "description": text}
            for transport, text in _TRANSPORTS.items()
        },
        "channels": dict(_channels()),
        "operations": dict(_operations()),
        "components": {"messages": _messages(), "schemas": _schemas()},
    }


_TRANSPORTS = {
    Transport.CORE: "Plain NATS (NATS_TRANSPORT=core, the default). Instances of one service share "
    "a queue group named like the service. A request without `processing` within 30 s is "
    "published again, with the same id.",
    Transport.JETSTREAM: "JetStream (NATS_TRANSPORT=jetstream): stream RECOGNITION over "
    "recognition.>, duplicate window 2 min. Instances of one service share a durable consumer "
    "named like the service; the core reads results through arm-core-results.",
}


def _channels() -> Iterator[tuple[str, Node]]:
    for transport, subjects in DEFAULTS.items():
        for name, address, text, messages in (
            ("tabularRequests", subjects.tabular_request, "Requests about XLS, XLSX, XLSB.", _ASKS),
            ("imageRequests", subjects.image_request, "Requests about PDF, PNG, JPG.", _ASKS),
            ("envelopes", subjects.result, "What services answer, of either pipeline.", _TELLS),
        ):
            yield (
                f"{transport}.{name}".replace(".", "_"),
                {
                    "address": address,
                    "description": text,
                    "servers": [{"$ref": f"#/servers/{transport}"}],
                    "messages": {it: {"$ref": f"#/components/messages/{it}"} for it in messages},
                },
            )

    yield (
        "core_outcomes",
        {
            "address": None,
            "description": "The reply subject that a service gave its envelope, where it gave one.",
            "servers": [{"$ref": f"#/servers/{Transport.CORE}"}],
            "messages": {"outcome": {"$ref": "#/components/messages/outcome"}},
        },
    )


_ASKS = ("request",)
_TELLS = ("processing", "recognised", "failed")


def _operations() -> Iterator[tuple[str, Node]]:
    for transport in DEFAULTS:
        for action, name, text in (
            ("receive", "tabularRequests", "A service of the tabular pipeline hears requests."),
            ("receive", "imageRequests", "A service of the image pipeline hears requests."),
            ("send", "envelopes", "A service acknowledges a request, and sends its result."),
        ):
            channel = f"{transport}_{name}"
            yield (
                f"{channel}_{action}",
                {
                    "action": action,
                    "channel": {"$ref": f"#/channels/{channel}"},
                    "summary": text,
                    **(_ANSWER if name == "envelopes" and transport is Transport.CORE else {}),
                },
            )


_ANSWER = {
    "reply": {
        "channel": {"$ref": "#/channels/core_outcomes"},
        "address": {
            "location": "$message.header#/Nats-Reply-Subject",
            "description": "The reply subject of the NATS message, where the service gave one: it "
            "is told what became of its envelope, after the commit.",
        },
    }
}


def _messages() -> Node:
    envelope = {"$ref": "#/components/schemas/envelope"}
    return {
        "request": _message(
            "Recognition request", message_ids.of_request(JOB, 1), "request",
            {"$ref": "#/components/schemas/request"}, "request-*.json",
        ),
        "processing": _message(
            "Acknowledgement: at once, before the file is read", message_ids.of_ack(JOB, 1), "ack",
            envelope, "result-message-processing.json",
        ),
        "recognised": _message(
            "Result: the file was recognised, its result file lies in S3",
            message_ids.of_result(JOB, 1), "result", envelope, "result-message-[dn]*.json",
        ),
        "failed": _message(
            "Result: the file was not recognised", message_ids.of_result(JOB, 1), "result",
            envelope, "result-message-error*.json",
        ),
        "outcome": {
            "title": "Answer to an envelope",
            "contentType": "application/json",
            "payload": {"$ref": "#/components/schemas/outcome"},
            "examples": [{"name": "applied", "payload": {"outcome": "applied"}}],
        },
    }  # fmt: skip


def _message(title: str, msg_id: str, kind: str, schema: Node, examples: str) -> Node:
    form = {"request": "", "ack": "ack:", "result": "result:"}[kind] + "<job_id>:<attempt>"
    header = {"type": "string", "description": form, "examples": [msg_id]}
    return {
        "title": title,
        "contentType": "application/json",
        "headers": {
            "type": "object",
            "required": [message_ids.HEADER],
            "properties": {message_ids.HEADER: header},
        },
        "payload": schema,
        "examples": [{"name": name, "payload": body} for name, body in _examples(examples)],
    }


def _examples(pattern: str) -> Iterator[tuple[str, Node]]:
    folder = Path(str(schema_files.root())) / "examples"
    for path in sorted(folder.glob(pattern)):
        yield path.stem, json.loads(path.read_text("utf-8"))


def _schemas() -> Node:
    return {
        "request": _embedded(schema_files.REQUEST),
        "envelope": _embedded(schema_files.ENVELOPE),
        "resultFile": _embedded(schema_files.RESULT),
        "outcome": {
            "type": "object",
            "description": "What became of an envelope. Each is final: the sender stops repeating.",
            "required": ["outcome"],
            "properties": {
                "outcome": {"enum": [kind.value for kind in OutcomeKind]},
                "reason": {"type": ["string", "null"]},
            },
        },
    }


def _embedded(name: str) -> Node:
    """A schema with its own references put in their places: `#` is another document's root here."""
    schema = schema_files.load(name)
    whole: Node = _whole(schema, schema)
    own = {"$schema", "$id", "$defs"}
    return {"x-schema-file": name} | {k: v for k, v in whole.items() if k not in own}


def _whole(root: Node, node: Any) -> Any:
    if isinstance(node, list):
        return [_whole(root, it) for it in node]
    if not isinstance(node, dict):
        return node
    return {key: _whole(root, it) for key, it in _resolved(root, node).items() if key != "$defs"}


# The page


STYLE = """
body { font: 15px/1.55 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1c2330; background: #fff; }
h1 { font-size: 1.6rem; } h2 { margin-top: 2.5rem; border-bottom: 1px solid #d5dae2; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; vertical-align: top;
  padding: .3rem .6rem; border-bottom: 1px solid #e3e7ee; }
code, pre { font: 13px/1.5 ui-monospace, monospace; } pre { background: #f4f6f9; padding: .8rem;
  overflow-x: auto; border-radius: 4px; } summary { cursor: pointer; padding: .2rem 0; }
@media (prefers-color-scheme: dark) { body { background: #14181f; color: #dfe4ec; }
  pre { background: #1d232d; } td, th, h2 { border-color: #333c49; } }
"""


def page(api: Node) -> str:
    """The document as one page that needs nothing else."""
    info = api["info"]
    parts = [
        '<!doctype html><html lang="en"><head><meta charset="utf-8">',
        f"<title>{escape(info['title'])}</title>",
        f'<meta name="viewport" content="width=device-width"><style>{STYLE}</style></head><body>',
        f"<h1>{escape(info['title'])}</h1><p>{_text(info['description'])}</p>",
        "<h2>Transports</h2>",
        *(f"<h3>{name}</h3><p>{_text(it['description'])}</p>" + _addresses(api, name)
          for name, it in api["servers"].items()),
        "<h2>Messages</h2>",
        *(_shown(name, it) for name, it in api["components"]["messages"].items()),
        "<h2>Schemas</h2>",
        *(_schema(name, it) for name, it in api["components"]["schemas"].items()),
        "</body></html>\n",
    ]  # fmt: skip
    return "\n".join(parts)


def _addresses(api: Node, server: str) -> str:
    rows = [
        (f"<code>{escape(it['address'] or 'a reply subject')}</code>", _text(it["description"]),
         ", ".join(f'<a href="#{name}">{name}</a>' for name in it["messages"]))
        for it in api["channels"].values()
        if it["servers"] == [{"$ref": f"#/servers/{server}"}]
    ]  # fmt: skip
    return _table(("Subject", "What it carries", "Messages"), rows)


def _shown(name: str, message: Node) -> str:
    told = "".join(
        f"<p>Header <code>{header}: {escape(it['description'])}</code>, "
        f"such as <code>{it['examples'][0]}</code></p>"
        for header, it in message.get("headers", {}).get("properties", {}).items()
    )
    examples = "".join(
        f"<details><summary>{escape(it['name'])}</summary>{_json(it['payload'])}</details>"
        for it in message["examples"]
    )
    title = f'<h3 id="{name}">{name}</h3><p>{escape(message["title"])}</p>'
    return title + told + examples


def _schema(name: str, schema: Node) -> str:
    rows = [
        (f"<code>{escape(where)}</code>", "yes" if needed else "", f"<code>{escape(kind)}</code>",
         _text(text))
        for where, needed, kind, text in _fields(schema, schema, "")
    ]  # fmt: skip
    whole = f"<details><summary>the schema itself</summary>{_json(schema)}</details>"
    told = _text(schema.get("description", ""))
    table = _table(("Field", "Required", "Form", "Meaning"), rows)
    return f'<h3 id="schema-{name}">{name}</h3><p>{told}</p>{table}{whole}'


def _fields(root: Node, schema: Node, at: str) -> Iterator[tuple[str, bool, str, str]]:
    for name, inner in schema.get("properties", {}).items():
        found = _resolved(root, inner)
        items = _resolved(root, found.get("items", {}))
        where = f"{at}{name}" + ("[]" if items else "")
        yield where, name in schema.get("required", ()), _form(found), found.get("description", "")
        yield from _fields(root, found, f"{where}.")
        yield from _fields(root, items, f"{where}.")


def _resolved(root: Node, schema: Node) -> Node:
    if "$ref" not in schema:
        return schema
    found: Any = root
    for name in schema["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return {**found, **{key: value for key, value in schema.items() if key != "$ref"}}


def _form(schema: Mapping[str, Any]) -> str:
    told = {key: schema[key] for key in _FORM if key in schema}
    return ", ".join(
        json.dumps(value, ensure_ascii=False) if key in ("type", "enum") else f"{key} {value}"
        for key, value in told.items()
    ).replace('"', "")


_FORM = ("type", "enum", "format", "pattern", "minimum", "maximum", "minLength", "minItems")


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><tr>{''.join(f'<th>{name}</th>' for name in head)}</tr>{lines}</table>"


def _json(value: object) -> str:
    return f"<pre>{escape(json.dumps(value, ensure_ascii=False, indent=2))}</pre>"


def _text(text: str) -> str:
    return escape(text).replace("\n", "<br>")


class _Plain(yaml.SafeDumper):  # type: ignore[misc]  # published without types
    """Without anchors: each part is read where it stands."""

    def ignore_aliases(self, _: object) -> bool:
        return True


def written(api: Node) -> str:
    """The document as YAML."""
    head = "# Made by `make reference` of the schemas and examples beside it.\n"
    text: str = yaml.dump(api, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=100)
    return head + text


def main(folder: Path) -> None:
    """Write the document and its page."""
    api = document()
    (folder / "asyncapi.yaml").write_text(written(api), "utf-8")
    (folder / "asyncapi.html").write_text(page(api), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
