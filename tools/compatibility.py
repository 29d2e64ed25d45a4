"""What breaks version 1 of the contract: differences between a released schema and today's.

The core and the services are replaced at different times, and each speaks to older and to newer
peers. So what was valid must stay valid, and what becomes valid must have been so: of a released
schema nothing changes but words, and what may be added is an optional field.
"""

from collections.abc import Iterator, Mapping
from typing import Any

Schema = Mapping[str, Any]

# Words for people: no peer acts on them.
_WORDS = frozenset({"$comment", "$id", "deprecated", "description", "examples", "title"})


def breaks(released: Schema, today: Schema) -> list[str]:
    """Every difference that some peer would notice, by where it is; [] where there is none."""
    return list(_of_schema(released, today, "$"))


def _of_schema(old: Any, new: Any, at: str) -> Iterator[str]:
    if not isinstance(old, Mapping) or not isinstance(new, Mapping):
        if old != new:
            yield f"{at}: was {old!r}, is {new!r}"
        return
    for keyword in sorted((old.keys() | new.keys()) - _WORDS):
        where = f"{at}.{keyword}"
        if keyword in ("properties", "$defs"):
            yield from _of_members(old.get(keyword, {}), new.get(keyword, {}), where)
        elif keyword not in new:
            yield f"{where}: is gone"
        elif keyword not in old:
            yield f"{where}: is new, and forbids what was valid"
        else:
            yield from _of_keyword(keyword, old[keyword], new[keyword], where)


def _of_members(old: Schema, new: Schema, at: str) -> Iterator[str]:
    """Members may be added: who does not know a field ignores it (C3)."""
    for name in sorted(old):
        if name in new:
            yield from _of_schema(old[name], new[name], f"{at}.{name}")
        else:
            yield f"{at}.{name}: is gone"


def _of_keyword(keyword: str, old: Any, new: Any, at: str) -> Iterator[str]:
    if keyword in ("required", "enum", "type") and isinstance(old, list) and isinstance(new, list):
        yield from (f"{at}: {it!r} is new" for it in new if it not in old)
        yield from (f"{at}: {it!r} is gone" for it in old if it not in new)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _of_schema(one, other, f"{at}[{index}]")
    else:
        yield from _of_schema(old, new, at)
