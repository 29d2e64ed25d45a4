"""requirements/ is what pyproject.toml asks for, pinned and hashed, without an index."""

import re

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ENTRY = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>\S+)(?: ; (?P<marker>.+?))? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}(?: \\)?$")
COMMENT = re.compile(r"^    # ")

# Which extras and dependency groups each file pins; the base dependencies are in all of them.
FILES = {
    "dev.txt": ("core scan tabular stack", "dev"),
    "test.txt": ("core scan tabular stack", "test"),
    "demo.txt": ("core scan tabular stack", "build"),
    "core.txt": ("core", ""),
    "scan.txt": ("scan", ""),
    "tabular.txt": ("tabular", ""),
    "bench.txt": ("core scan stack tabular", "bench"),
}


def problems(text: str) -> list[str]:
    """Lines that are neither a pin, nor a hash, nor a comment; and pins without a hash."""
    lines = text.splitlines()
    found = []
    for number, line in enumerate(lines, start=1):
        if ENTRY.match(line):
            if number == len(lines) or not HASH.match(lines[number]):
                found.append(f"{number}: no hash for {line}")
        elif not (HASH.match(line) or COMMENT.match(line)):
            found.append(f"{number}: {line}")
    return found


def pins(text: str) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in text.splitlines():
        if entry := ENTRY.match(line):
            found.setdefault(canonicalize_name(entry["name"]), set()).add(entry["version"])
    return found


def wanted(project: dict, extras: str, groups: str) -> list[Requirement]:
    texts = list(project["project"]["dependencies"])
    for extra in extras.split():
        texts += project["project"]["optional-dependencies"][extra]
    for group in groups.split():
        texts += _group(project["dependency-groups"], group)
    return [Requirement(text) for text in texts]


def _group(groups: dict, name: str) -> list[str]:
    found = []
    for item in groups[name]:
        found += [item] if isinstance(item, str) else _group(groups, item["include-group"])
    return found


def drift(requirements: list[Requirement], locked: dict[str, set[str]]) -> list[str]:
    return [
        f"{requirement} is not what is locked: {sorted(versions) or 'nothing'}"
        for requirement in requirements
        for versions in [locked.get(canonicalize_name(requirement.name), set())]
        if not versions or not all(requirement.specifier.contains(it) for it in versions)
    ]


def test_every_file_is_known(root):
    assert {path.name for path in (root / "requirements").iterdir()} == set(FILES)


def test_every_extra_is_locked_for_development(project):
    assert set(FILES["dev.txt"][0].split()) == set(project["project"]["optional-dependencies"])


@pytest.mark.parametrize("name", FILES)
def test_a_file_holds_pins_with_hashes_and_nothing_else(root, name):
    assert problems((root / "requirements" / name).read_text()) == []


@pytest.mark.parametrize("name", FILES)
def test_a_file_pins_what_the_project_asks_for(root, project, name):
    locked = pins((root / "requirements" / name).read_text())

    assert drift(wanted(project, *FILES[name]), locked) == []


@pytest.mark.parametrize("name", FILES)
def test_nothing_is_pinned_twice(root, name):
    everything = pins((root / "requirements/dev.txt").read_text())
    locked = pins((root / "requirements" / name).read_text())
    shared = {pin: versions for pin, versions in locked.items() if pin in everything}

    assert {pin for pin, versions in shared.items() if everything[pin] != versions} == set()
    # The peers of the benchmark are of no use elsewhere.
    assert name == "bench.txt" or shared == locked


def test_the_checker_sees_what_is_wrong():
    pin = "nats-py==2.16.0 \\\n    --hash=sha256:" + "0" * 64 + "\n"

    assert problems(pin) == []
    assert problems("--index-url somewhere\n" + pin) != []
    assert problems("nats-py==2.16.0\n") != []
    assert problems("nats-py==2.16.0 \\\n    # via arm-ka\n") != []
    assert drift([Requirement("nats-py>=2.11")], pins(pin)) == []
    assert drift([Requirement("nats-py>=3")], pins(pin)) != []
    assert drift([Requirement("asyncpg")], pins(pin)) != []
