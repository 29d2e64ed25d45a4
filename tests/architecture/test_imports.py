"""The tables [tool.armka.homes] and [tool.armka.pure] of pyproject.toml hold."""

import ast
from pathlib import Path

import pytest


def imports(source: str) -> list[tuple[int, str]]:
    """(line, full name) of everything that the source imports absolutely."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def room_of(path: Path, package: Path) -> str:
    """The dotted path below the package; of an __init__.py, its folder's."""
    inside = path.relative_to(package).with_suffix("")
    return ".".join(part for part in inside.parts if part != "__init__")


def strangers(room: str, source: str, homes: dict[str, list[str]]) -> list[str]:
    return [
        f"{line}: {client} belongs to {', '.join(allowed)}"
        for line, name in imports(source)
        for client, allowed in homes.items()
        if is_within(name, client)
        and not any(is_within(room, home) for home in [*allowed, client.removeprefix("armka.")])
    ]


def impurities(source: str, without: list[str]) -> list[str]:
    return [
        f"{line}: a pure room imports {name}"
        for line, name in imports(source)
        if any(is_within(name, module) for module in without)
    ]


def test_each_client_has_one_home(project, product, root):
    homes = project["tool"]["armka"]["homes"]
    found = [
        f"{path}:{finding}"
        for path in product
        for finding in strangers(room_of(path, root / "src/armka"), path.read_text(), homes)
    ]

    assert found == []


def test_pure_rooms_do_no_io(project, product, root):
    pure = project["tool"]["armka"]["pure"]
    found = [
        f"{path}:{finding}"
        for path in product
        if any(is_within(room_of(path, root / "src/armka"), room) for room in pure["rooms"])
        for finding in impurities(path.read_text(), pure["without"])
    ]

    assert found == []


HOMES = {"asyncpg": ["core.database"], "armka.sdk": ["services"]}


@pytest.mark.parametrize(
    ("room", "source", "count"),
    [
        ("core.inbox.loop", "import asyncpg", 1),
        ("core.inbox.loop", "def late():\n    from asyncpg.pool import Pool", 1),
        ("core.inbox", "from armka.sdk import Service", 1),
        ("core.inbox", "from armka import sdk", 1),
        ("core.database.pool", "import asyncpg", 0),
        ("core.database_of_others", "import asyncpg", 1),
        ("services.tabular_parser", "from armka.sdk import Service", 0),
        ("sdk.loop", "from armka.sdk import handler", 0),
        ("core.inbox", "import asyncpgx", 0),
        ("core.inbox", "from .asyncpg import x", 0),
    ],
)
def test_strangers_are_told_from_residents(room, source, count):
    assert len(strangers(room, source, HOMES)) == count


def test_impurities_are_found_by_whole_names():
    assert impurities("import socket", ["socket"]) != []
    assert impurities("from urllib.request import urlopen", ["urllib"]) != []
    assert impurities("import socketlike", ["socket"]) == []


def test_a_room_is_named_by_its_path():
    package = Path("src/armka")

    assert room_of(package / "core/database/pool.py", package) == "core.database.pool"
    assert room_of(package / "core/settings.py", package) == "core.settings"
    assert room_of(package / "osv/__init__.py", package) == "osv"
