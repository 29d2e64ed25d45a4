"""Invalid requests, made from the schema: every keyword of every field is broken in every way."""

import copy
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

Schema = Mapping[str, Any]
Path = tuple[str, ...]

_SAMPLES: dict[str, object] = {
    "string": "text",
    "number": 1.5,
    "boolean": True,
    "null": None,
    "array": [],
    "object": {},
    "integer": 7,
}
_MALFORMED: dict[str, tuple[str, ...]] = {
    "uuid": ("", "not-a-uuid", "00000000000040008000000000000001", "g" * 36),
    "date-time": (
        "tomorrow",
        "2026-12-01",
        "2026-12-01T10:00:00",
        "2026-13-01T10:00:00Z",
        "2026-12-01 ten o'clock",
    ),
}
_NEAR_MISSES = ("", "text", "2.0", "0.9", "11.0", "1", "1.", "1.x", "v1.0", "1.0.0", " 1.0", "1,0")


@dataclass(frozen=True)
class Violation:
    """A body that breaks one keyword at one place; the rest of it is valid."""

    where: str
    keyword: str
    value: str
    body: bytes

    def __str__(self) -> str:
        return f"{self.where or 'the body'} breaks {self.keyword}: {self.value}"


_ABSENT = object()


def violations(schema: Schema, valid: Mapping[str, Any]) -> Iterator[Violation]:
    """Break `valid` in every way that the schema knows, one at a time."""
    for path, keyword, value in _broken(schema, schema, (), valid):
        body = value if not path else _with(valid, path, value)
        shown = "absent" if value is _ABSENT else json.dumps(value, ensure_ascii=False)[:60]
        yield Violation(".".join(path), keyword, shown, json.dumps(body).encode())


def _with(valid: Mapping[str, Any], path: Path, value: object) -> object:
    body: Any = copy.deepcopy(dict(valid))
    place = body
    for name in path[:-1]:
        place = place[name]
    if value is _ABSENT:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return body


def _broken(
    root: Schema, schema: Schema, path: Path, valid: Any
) -> Iterator[tuple[Path, str, object]]:
    schema = _resolved(root, schema)
    for keyword, values in (
        ("type", _other_types(schema)),
        ("enum", _strangers(schema)),
        ("pattern", _mismatches(schema, valid)),
        ("format", _MALFORMED.get(schema.get("format", ""), ())),
        ("minLength", ("",) if schema.get("minLength") else ()),
        ("minimum", (schema["minimum"] - 1, -5) if "minimum" in schema else ()),
        ("maximum", (schema["maximum"] + 1,) if "maximum" in schema else ()),
    ):
        for value in values:
            yield path, keyword, value
    for name in schema.get("required", ()):
        yield (*path, name), "required", _ABSENT
    for name, inner in schema.get("properties", {}).items():
        if name in valid:
            yield from _broken(root, inner, (*path, name), valid[name])


def _resolved(root: Schema, schema: Schema) -> Schema:
    if "$ref" not in schema:
        return schema
    found: Any = root
    for name in schema["$ref"].removeprefix("#/").split("/"):
        found = found[name]
    return {**found, **{key: value for key, value in schema.items() if key != "$ref"}}


def _other_types(schema: Schema) -> Iterator[object]:
    if "enum" in schema:
        yield from (None, 7, [])
    if "type" not in schema:
        return
    for name, sample in _SAMPLES.items():
        if name != schema["type"] and not (schema["type"] == "number" and name == "integer"):
            yield sample


def _strangers(schema: Schema) -> Iterator[object]:
    known = schema.get("enum", ())
    for value in known:
        for stranger in (str(value).swapcase(), f"{value} ", f"{value}X"):
            if stranger not in known:
                yield stranger
    if known:
        yield ""


def _mismatches(schema: Schema, valid: Any) -> Iterator[object]:
    if "pattern" not in schema:
        return
    for text in (*_NEAR_MISSES, f"{valid} ", f"x{valid}", f"{valid}\n"):
        if not re.search(schema["pattern"].replace("$", r"\Z"), text):
            yield text


def unreadable(valid: Mapping[str, Any]) -> Iterator[Violation]:
    """Bodies that are no JSON at all."""
    whole = json.dumps(valid).encode()
    for value, body in (
        ("nothing", b""),
        ("cut off in the middle", whole[: len(whole) // 2]),
        ("no JSON", b"job_id=1&file_id=2"),
        ("bytes that are no text", b"\xff\xfe\x00\x01" * 8),
        ("two bodies", whole + whole),
        ("brackets, 100,000 deep", b"[" * 100_000),
    ):
        yield Violation("", "JSON", value, body)
