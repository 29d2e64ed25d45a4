"""Links lead somewhere, rules name what checks them, nothing tells on a registry or a machine."""

import re
from pathlib import Path

import pytest

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
ELSEWHERE = ("http://", "https://", "mailto:")

# The brackets keep the patterns from finding themselves.
HOSTS = r"py[p]i\.org|python[h]osted|npm[j]s\.|deb\.[d]ebian|registry\.[a-z-]+\.[a-z]{2,}"
PATHS = r"(?<![\w.])/([r]oot|[w]ork|[h]ome|[U]sers)/\w"
TELLS = re.compile(f"{HOSTS}|{PATHS}")

RULE = re.compile(r"^\| (\d+) \| (.+?) \| (.+?) \| (.+?) \|$", re.MULTILINE)
CHECKER = re.compile(r"`([^`]+)`")


def anchors(text: str) -> set[str]:
    """The fragments that the forge makes of the headings."""
    titles = HEADING.findall(re.sub(r"```.*?```", "", text, flags=re.DOTALL))
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def dead_links(document: Path) -> list[str]:
    text = document.read_text()
    found = []
    for link in LINK.findall(CODE.sub("", text)):
        if link.startswith(ELSEWHERE):
            continue
        name, _, fragment = link.partition("#")
        target = document.parent / name if name else document
        if not target.exists():
            found.append(f"{document}: {link} leads nowhere")
        elif fragment and fragment not in anchors(target.read_text()):
            found.append(f"{document}: {link} has no such heading")
    return found


def tells(text: str) -> list[str]:
    lines = enumerate(text.splitlines(), start=1)
    return [f"{number}: {line.strip()[:80]}" for number, line in lines if TELLS.search(line)]


def without_recipe(makefile: str, text: str) -> set[str]:
    """What a text names as `make …`, or the Makefile as `.PHONY`, and has no recipe."""
    phony = re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    named = set(re.findall(r"(?:`|^ {4})make ([a-z][a-z-]*)", text, re.MULTILINE))
    made = set(re.findall(r"^([a-z][a-z-]*):", makefile, re.MULTILINE))
    return (named | set(" ".join(phony).split())) - made


def unchecked(text: str, root: Path, project: dict) -> list[str]:
    """Rules of STYLE.md that are not numbered in order, or whose checker is not there."""
    rules = RULE.findall(text)
    found = [] if rules else ["no rules at all"]
    for position, (number, rule, _, checkers) in enumerate(rules, start=1):
        named = CHECKER.findall(checkers)
        if int(number) != position or not named:
            found.append(f"{number} {rule}: out of order, or nothing checks it")
        found += [f"{number}: no {it}" for it in named if not _exists(it, root, project["tool"])]
    return found


def _exists(checker: str, root: Path, tool: dict) -> bool:
    if "::" in checker:
        path, _, test = checker.partition("::")
        return (root / path).is_file() and f"def {test}(" in (root / path).read_text()
    program, _, rule = checker.partition(" ")
    if program == "ruff":
        return not any(rule.startswith(ignored) for ignored in tool["ruff"]["lint"]["ignore"])
    if program == "mypy":
        return rule in {"strict", *tool["mypy"]["enable_error_code"]}
    contracts = [contract["name"] for contract in tool["importlinter"]["contracts"]]
    return program == "lint-imports" and any(rule in name for name in contracts)


def test_links_lead_somewhere(tree):
    documents = [path for path in tree if path.suffix == ".md"]

    assert [finding for document in documents for finding in dead_links(document)] == []


def test_make_commands_that_documents_name_exist(tree, root):
    texts = [path.read_text() for path in tree if path.suffix == ".md"]

    assert without_recipe((root / "Makefile").read_text(), "\n".join(texts)) == set()


def test_a_command_without_recipe_is_found():
    makefile = ".PHONY: help test\n\nhelp: ## This list\n"

    assert without_recipe(makefile, "`make help`, or\n\n    make soak") == {"test", "soak"}


def test_a_document_has_one_title(tree):
    documents = [path for path in tree if path.suffix == ".md"]
    titles = {
        path: len(re.findall(r"^# ", CODE.sub("", path.read_text()), re.MULTILINE))
        for path in documents
    }

    assert {path: count for path, count in titles.items() if count != 1} == {}


def test_every_rule_of_style_is_checked(root, project):
    assert unchecked((root / "STYLE.md").read_text(), root, project) == []


def test_warnings_are_errors(project):
    """The first filter; each exception after it stands on a line of its own, with its reason."""
    assert project["tool"]["pytest"]["filterwarnings"][0] == "error"


def test_no_file_tells_of_a_registry_or_a_machine(tree):
    found = []
    for path in tree:
        try:
            found += [f"{path}:{finding}" for finding in tells(path.read_text())]
        except UnicodeDecodeError:
            continue  # a picture or a spreadsheet

    assert found == []


@pytest.mark.parametrize(
    ("link", "count"),
    [
        ("[a](other.md)", 0),
        ("[a](other.md#два-слова)", 0),
        ("[a](#here-it-is)", 0),
        ("[a](https://example.org)", 0),
        ("`[a](nowhere.md)`", 0),
        ("[a](nowhere.md)", 1),
        ("[a](other.md#three)", 1),
        ("[a](#there)", 1),
    ],
)
def test_dead_links_are_found(tmp_path, link, count):
    (tmp_path / "other.md").write_text("# Other\n\n## Два слова\n")
    document = tmp_path / "document.md"
    document.write_text(f"# Here it is\n\n{link}\n")

    assert len(dead_links(document)) == count


def test_what_tells_on_a_machine_is_found():
    assert tells("cd /ro" + "ot/project") != []
    assert tells("see py" + "pi.org") != []
    assert tells("the /roots/ of a tree, s3://bucket/work/file") == []


def test_unchecked_rules_are_found(root, project):
    row = "| {} | Be kind | It pays | {} |\n"

    assert unchecked(row.format(1, "`ruff E501`"), root, project) == []
    assert unchecked(row.format(1, "review"), root, project) != []
    assert unchecked(row.format(2, "`ruff E501`"), root, project) != []
    assert unchecked(row.format(1, "`ruff TRY003`"), root, project) != []
    assert unchecked(row.format(1, "`tests/none.py::test_it`"), root, project) != []
    assert unchecked("", root, project) != []
