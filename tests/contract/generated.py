"""JSON values for and around a schema of ours: mostly valid, often broken in one place."""

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

Json = Any
Path = tuple[str | int, ...]

UUIDS = st.uuids().map(str)
INSTANTS = st.datetimes().map(lambda moment: moment.isoformat() + "Z")
DATES = st.dates().map(str)
FORMATS = {"uuid": UUIDS, "date-time": INSTANTS, "date": DATES}

# What tempts a validator to say yes.
TEMPTING = [
    *("", " ", "\0", "x", "ы", "0", "-0", "1e5", "1,5", "+1", "1.0000001", "1.", ".5", "١"),
    *("1234567890123456789", "12345\n", "1.0\n", "1", "1.0.0", "01.0", "2.0", "1.x", "0.9", "1.٠"),
    *("3F2C8A54-6A0E-4D0B-9F0E-2B6F4F1D7C11", "{3f2c8a54-6a0e-4d0b-9f0e-2b6f4f1d7c11}"),
    *("3f2c8a546a0e4d0b9f0e2b6f4f1d7c11", "urn:uuid:3f2c8a54-6a0e-4d0b-9f0e-2b6f4f1d7c11"),
    *("3f2c8a54-6a0e-4d0b-9f0e-2b6f4f1d7c1", "3f2c8a54-6a0e-4d0b-9f0e-2b6f4f1d7c11\n"),
    *("2026-11-30", "2026-02-30", "2026-11-30T10:00:00", "2026-11-30T10:00:00z"),
    *("2026-11-30t10:00:00Z", "2026-11-30 10:00:00Z", "2026-11-30T10:00:00+03:00"),
    *("2026-11-30T10:00:00+24:00", "2026-11-30T24:00:00Z", "2026-11-30T10:00Z", "20261130T100000Z"),
    *("2026-11-30T10:00:00,5Z", "2026-11-30T10:00:00.123456789Z", "2026-W49-1T10:00:00Z"),
    *("0001-01-01T00:00:00+03:00", "9999-12-31T23:59:59-03:00", "2026-11-30T10:00:00+23:60"),
    *("2026-11-30T10:00:00-00:00", "2026-13-01T10:00:00Z", "2026-11-30T10:60:00Z", "26-11-30"),
    *("XFD", "xfd", "AAAA", "Ж", "R0", "R13", "R14", "R1\n", "accounts", "Accounts", "a" * 65),
    *("7707083893", "770708389312", "77070838931", "٧٧٠٧٠٨٣٨٩٣"),
    *("tabular", "TABULAR", "XLSX", "xlsx", "done", "processing", "error", "OSV", "warning"),
]
JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from([2**31 - 1, 2**31, 2**63 - 1, 2**63, 10**30, 255, 256, 1000, 1000000]),
    st.floats(-2, 2).filter(lambda number: not number.is_integer()),
    st.sampled_from(TEMPTING),
    st.sampled_from([[], {}, [None] * 6, ["1.00"] * 6, [0.5] * 4, [None] * 7, [1], {"x": 1}]),
)


def instances(schema: Json, root: Json = None) -> st.SearchStrategy[Json]:
    """Values that pass the schema, but for what `if` and `anyOf` of required keys say."""
    root = schema if root is None else root
    if "$ref" in schema:
        return instances(root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema and "type" not in schema:
        return st.one_of([instances(it, root) for it in schema["anyOf"]])
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    return st.one_of([_of_kind(kind, schema, root) for kind in kinds])


def _of_kind(kind: str, schema: Json, root: Json) -> st.SearchStrategy[Json]:
    found: st.SearchStrategy[Json] = st.none()
    match kind:
        case "object":
            found = _objects(schema, root)
        case "array":
            sizes = {"min_size": schema.get("minItems", 0), "max_size": schema.get("maxItems", 2)}
            found = st.lists(instances(schema["items"], root), **sizes)
        case "string":
            found = _strings(schema)
        case "integer":
            found = st.integers(schema.get("minimum", -9), schema.get("maximum", 9))
        case "number":
            found = st.floats(schema.get("minimum", -9), schema.get("maximum", 9))
        case "boolean":
            found = st.booleans()
        case _:
            assert kind == "null"
    return found


def _objects(schema: Json, root: Json) -> st.SearchStrategy[Json]:
    known = {key: instances(it, root) for key, it in schema.get("properties", {}).items()}
    required = {key: it for key, it in known.items() if key in schema.get("required", [])}
    optional = {key: it for key, it in known.items() if key not in required}
    strangers = {"group_schema_of_old": JUNK, "x": JUNK}
    return st.fixed_dictionaries(required, optional=optional | strangers)


def _strings(schema: Json) -> st.SearchStrategy[str]:
    if "format" in schema:
        return FORMATS[schema["format"]]
    if "pattern" in schema:
        ascii_only = st.characters(max_codepoint=127)
        return st.from_regex(schema["pattern"].replace("$", r"\Z"), alphabet=ascii_only)
    return st.text(min_size=schema.get("minLength", 0), max_size=5)


@st.composite
def cases(draw: st.DrawFn, schema: Json) -> Json:
    """A value for the schema; three of four times with a part of it changed or left out."""
    value = draw(instances(schema))
    for _ in range(draw(st.sampled_from([0, 1, 1, 2]))):
        value = draw(broken(value))
    return value


@st.composite
def broken(draw: st.DrawFn, value: Json) -> Json:
    """The value with one place changed."""
    value = copy.deepcopy(value)
    path = draw(st.sampled_from(list(places(value))))
    if not path:
        return draw(JUNK)
    *way, last = path
    holder = value
    for step in way:
        holder = holder[step]
    if draw(st.booleans()):
        holder[last] = draw(JUNK)
    else:
        del holder[last]
    return value


def places(value: Json, here: Path = ()) -> Iterator[Path]:
    """Every place in a value, the whole of it first."""
    yield here
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from places(inner, (*here, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from places(inner, (*here, index))


def leaves(value: Json) -> Iterator[Json]:
    """Every value inside a value that holds no other."""
    if isinstance(value, dict):
        for inner in value.values():
            yield from leaves(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from leaves(inner)
    else:
        yield value
