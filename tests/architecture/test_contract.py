"""Version 1 of the contract stays version 1, and its AsyncAPI document is what the schemas say."""

import copy
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.compatibility import breaks

NAMES = (
    "recognition-request.schema.json",
    "recognition-result-message.schema.json",
    "recognition-result.schema.json",
)


def released(root: Path) -> list[tuple[Path, Path]]:
    """Each released schema with today's."""
    contracts = root / "docs/contracts"
    versions = sorted((contracts / "released").glob("1.*"))
    return [(version / name, contracts / name) for version in versions for name in NAMES]


def test_version_1_is_kept(root: Path) -> None:
    """A change that a peer of version 1 would notice needs another MAJOR."""
    pairs = released(root)
    assert pairs
    found = [
        f"{old.relative_to(root)}: {it}"
        for old, new in pairs
        for it in breaks(json.loads(old.read_text()), json.loads(new.read_text()))
    ]
    assert found == []


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["id", "kind"],
    "properties": {
        "id": {"$ref": "#/$defs/id"},
        "kind": {"enum": ["a", "b"]},
        "count": {"type": ["integer", "null"], "minimum": 0},
        "list": {"type": "array", "items": {"type": "string", "pattern": "^x"}},
    },
    "allOf": [{"if": {"required": ["kind"]}, "then": {"required": ["id"]}}],
    "$defs": {"id": {"type": "string", "format": "uuid"}},
}


def changed(*path: str | int, to: Any = None, without: bool = False) -> dict[str, Any]:
    """The schema with one change."""
    schema = copy.deepcopy(SCHEMA)
    place: Any = schema
    for name in path[:-1]:
        place = place[name]
    if without:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return schema


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        (changed("required", to=["id"]), "$.required"),
        (changed("required", to=["id", "kind", "count"]), "$.required"),
        (changed("properties", "kind", "enum", to=["a", "b", "c"]), "$.properties.kind.enum"),
        (changed("properties", "kind", "enum", to=["a"]), "$.properties.kind.enum"),
        (changed("properties", "count", "minimum", to=1), "$.properties.count.minimum"),
        (changed("properties", "count", "maximum", to=9), "$.properties.count.maximum"),
        (changed("properties", "count", "type", to="integer"), "$.properties.count.type"),
        (changed("properties", "count", without=True), "$.properties.count"),
        (changed("properties", "list", "items", "pattern", to="^y"), "$.properties.list.items"),
        (changed("$defs", "id", "format", without=True), "$.$defs.id.format"),
        (changed("allOf", 0, "then", "required", to=["kind"]), "$.allOf[0].then.required"),
        (changed("additionalProperties", to=False), "$.additionalProperties"),
    ],
)
def test_what_breaks_a_peer_is_found(schema: dict[str, Any], where: str) -> None:
    """Tightened or loosened: somebody's messages, or somebody's expectations, are no longer met."""
    found = breaks(SCHEMA, schema)
    assert found
    assert all(it.startswith(where) for it in found)


@pytest.mark.parametrize(
    "schema",
    [
        SCHEMA,
        changed("description", to="in other words"),
        changed("properties", "count", "description", to="how many"),
        changed("properties", "colour", to={"type": "string"}),
        changed("$defs", "colour", to={"enum": ["red"]}),
    ],
)
def test_what_no_peer_notices_is_not(schema: dict[str, Any]) -> None:
    """Words, and optional fields, which an older peer ignores."""
    assert breaks(SCHEMA, schema) == []


def test_the_asyncapi_document_is_what_the_schemas_say(root: Path, tmp_path: Path) -> None:
    """`make reference` writes it, and its page."""
    command = [sys.executable, str(root / "tools/asyncapi.py"), str(tmp_path)]
    subprocess.run(command, check=True, timeout=60)
    for name in ("asyncapi.yaml", "asyncapi.html"):
        kept = (root / "docs/contracts" / name).read_text()
        assert (tmp_path / name).read_text() == kept, "run `make reference`"


def test_the_asyncapi_page_works_offline(root: Path) -> None:
    """One file, nothing fetched."""
    page = (root / "docs/contracts/asyncapi.html").read_text()
    assert not any(word in page for word in ("<script", "<link", "src=", "url(", "@import"))


def test_the_references_of_the_asyncapi_document_lead_somewhere(root: Path) -> None:
    """Every `$ref` is a place in the document itself."""
    api = yaml.safe_load((root / "docs/contracts/asyncapi.yaml").read_text())
    assert api["asyncapi"] == "3.0.0"
    found = list(references(api))
    assert found
    for reference in found:
        place = api
        for name in reference.removeprefix("#/").split("/"):
            place = place[name]


def references(node: Any) -> list[str]:
    """Every `$ref` under a node."""
    if isinstance(node, list):
        return [it for member in node for it in references(member)]
    if not isinstance(node, dict):
        return []
    own = [node["$ref"]] if isinstance(node.get("$ref"), str) else []
    return own + [it for member in node.values() for it in references(member)]


def test_the_page_of_messages_is_what_the_examples_say(root: Path) -> None:
    """`make reference` writes it."""
    command = [sys.executable, str(root / "tools/messages.py")]
    fresh = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, timeout=60)
    kept = (root / "docs/reference/messages.md").read_text()
    assert fresh.stdout == kept, "run `make reference`"
