"""What STYLE.md asks of code and ruff cannot say.

Each checker takes text and returns findings, so that it is tested itself: on code that breaks
the rule, and on code that only looks like it.
"""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 500
BANNED_NAMES = {"common", "helper", "helpers", "manager", "managers", "misc", "util", "utils"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SCOPES = (*FUNCTIONS, ast.ClassDef, ast.Lambda)

STATEMENTS = [
    r"SELECT\s",
    r"INSERT\s+INTO\s",
    r"UPDATE\s+[\w.\"]+\s+SET\s",
    r"DELETE\s+FROM\s",
    r"WITH\s+\w+\s+AS\b",
    r"(CREATE|ALTER|DROP)\s+[A-Z]+\s",
    r"TRUNCATE\s",
    r"(LISTEN|NOTIFY)\s+\w+",
]
SQL = re.compile(rf"\s*({'|'.join(STATEMENTS)})")
RUNS_SQL = {"execute", "executemany", "fetch", "fetchrow", "fetchval", "fetchmany", "prepare"}

NOTE_TO_SELF = re.compile(r"\b(TO" r"DO|FIX" r"ME|X" r"XX)\b")


def long_functions(source: str) -> list[str]:
    return [
        f"{node.lineno}: {node.name} has {lines} lines"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, FUNCTIONS)
        and (lines := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION_LINES_MAX
    ]


def long_file(source: str) -> list[str]:
    lines = source.count("\n")
    return [f"{lines} lines"] if lines > FILE_LINES_MAX else []


def sql_in_python(source: str) -> list[str]:
    """Literals that are SQL by their first words, and literals handed to what runs SQL."""
    module = ast.parse(source)
    prose = {id(node.value) for node in ast.walk(module) if isinstance(node, ast.Expr)}
    found = []
    for node in ast.walk(module):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in prose and SQL.match(node.value):
                found.append(f"{node.lineno}: {node.value.strip()[:40]!r}")
        elif isinstance(node, ast.Call) and _runs_a_literal(node):
            found.append(f"{node.lineno}: a literal is run as SQL")
    return found


def _runs_a_literal(call: ast.Call) -> bool:
    if not (isinstance(call.func, ast.Attribute) and call.func.attr in RUNS_SQL and call.args):
        return False
    first = call.args[0]
    text = isinstance(first, ast.Constant) and isinstance(first.value, str)
    return text or isinstance(first, ast.JoinedStr)


def swallowed_errors(source: str) -> list[str]:
    """Handlers of everything that do nothing, and `suppress(Exception)`."""
    return [
        f"{node.lineno}: an error of any kind is swallowed"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ExceptHandler | ast.Call) and _swallows(node)
    ]


def _swallows(node: ast.ExceptHandler | ast.Call) -> bool:
    if isinstance(node, ast.ExceptHandler):
        return _is_everything(node.type) and all(_does_nothing(it) for it in node.body)
    suppresses = ast.unparse(node.func).endswith("suppress")
    return suppresses and any(_is_everything(kind) for kind in node.args)


def _is_everything(kind: ast.expr | None) -> bool:
    return kind is None or (
        isinstance(kind, ast.Name) and kind.id in {"Exception", "BaseException"}
    )


def _does_nothing(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Pass | ast.Continue) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def notes_to_self(source: str) -> list[str]:
    lines = enumerate(source.splitlines(), start=1)
    return [f"{number}: {line.strip()[:60]}" for number, line in lines if NOTE_TO_SELF.search(line)]


def environment_reads(source: str) -> list[str]:
    reads = {"environ", "getenv", "environb"}
    return [
        f"{node.lineno}: reads the environment"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        and node.attr in reads
        and isinstance(node.value, ast.Name)
        and node.value.id == "os"
    ]


def sleeping_tests(source: str) -> list[str]:
    """Sleeps straight in a test. In a loop it is a poll, in an inner function it is the scenery."""
    return [
        f"{call.lineno}: {node.name} sleeps"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, FUNCTIONS) and node.name.startswith("test_")
        for statement in node.body
        for call in _straight_calls(statement)
        if ast.unparse(call.func).endswith("sleep") and ast.unparse(call.args[0]) != "0"
    ]


def _straight_calls(node: ast.AST) -> Iterator[ast.Call]:
    if isinstance(node, (*SCOPES, ast.While, ast.For, ast.AsyncFor)):
        return
    if isinstance(node, ast.Call):
        yield node
    for child in ast.iter_child_nodes(node):
        yield from _straight_calls(child)


def banned_names(path: Path) -> list[str]:
    names = BANNED_NAMES & {part.removesuffix(".py") for part in path.parts}
    return [f"{name!r} says nothing of what is inside" for name in sorted(names)]


def findings(files: list[Path], check: Callable[[str], list[str]]) -> list[str]:
    return [f"{file}:{finding}" for file in files for finding in check(file.read_text())]


def test_functions_are_short(python):
    assert findings(python, long_functions) == []


def test_files_are_short(python):
    assert findings(python, long_file) == []


def test_sql_lives_in_sql_files(product):
    assert findings(product, sql_in_python) == []


def test_no_error_is_swallowed(python):
    assert findings(python, swallowed_errors) == []


def test_nothing_is_left_for_later(tree, root):
    rooms = ("src", "tests", "tools", "Makefile", ".ci")
    ours = [path for path in tree if path.relative_to(root).parts[0] in rooms]
    text = [path for path in ours if path.suffix in {"", ".py", ".sql", ".sh"}]

    assert findings(text, notes_to_self) == []


def test_the_environment_is_read_in_settings_only(product, root):
    """Stack and command line are exempt: they hand an environment on to what they start."""
    exempt = {root / "src/armka/stack", root / "src/armka/cli"}
    rest = [p for p in product if p.name != "settings.py" and exempt.isdisjoint(p.parents)]

    assert findings(rest, environment_reads) == []


def test_tests_wait_for_what_they_need(python, root):
    tests = [path for path in python if path.is_relative_to(root / "tests")]

    assert findings(tests, sleeping_tests) == []


def test_modules_are_named_after_what_they_do(python, root):
    inside = [path.relative_to(root) for path in python]

    assert [f"{path}: {finding}" for path in inside for finding in banned_names(path)] == []


def lines(count: int) -> str:
    return "\n".join(["def work():", *["    x = 1"] * (count - 1)]) + "\n"


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (long_functions, lines(71)),
        (long_file, lines(501)),
        (sql_in_python, 'query = "SELECT id FROM job"'),
        (sql_in_python, 'query = f"""\n  UPDATE job SET status = {x}"""'),
        (sql_in_python, 'connection.fetchval("select 1")'),
        (sql_in_python, 'connection.execute(f"drop table {name}")'),
        (swallowed_errors, "try: work()\nexcept Exception: pass"),
        (swallowed_errors, "try: work()\nexcept: ..."),
        (swallowed_errors, "with contextlib.suppress(Exception): work()"),
        (notes_to_self, "x = 1  # TO" + "DO: more"),
        (environment_reads, 'import os\nurl = os.environ["NATS_URL"]'),
        (environment_reads, 'import os\nurl = os.getenv("NATS_URL")'),
        (sleeping_tests, "async def test_a():\n    await asyncio.sleep(0.1)"),
        (sleeping_tests, "def test_a():\n    with x:\n        time.sleep(3)"),
    ],
)
def test_a_broken_rule_is_found(check, source):
    assert len(check(source)) == 1


@pytest.mark.parametrize(
    ("check", "source"),
    [
        (long_functions, lines(70)),
        (long_file, lines(500)),
        (sql_in_python, 'def pick():\n    """SELECT one, in words."""'),
        (sql_in_python, 'help = "Select the files to upload"'),
        (sql_in_python, 'print("UPDATE is refused")'),
        (sql_in_python, "connection.execute(queries.claim, limit)"),
        (sql_in_python, "subscription.fetch(500)"),
        (swallowed_errors, "try: work()\nexcept KeyError: pass"),
        (swallowed_errors, "try: work()\nexcept Exception as error: log(error)"),
        (swallowed_errors, "with suppress(ProcessLookupError): stop()"),
        (notes_to_self, "mastodon = 1"),
        (environment_reads, "settings.environ"),
        (sleeping_tests, "async def test_a():\n    await asyncio.sleep(0)"),
        (sleeping_tests, "async def test_a():\n    while x:\n        await asyncio.sleep(0.1)"),
        (sleeping_tests, "async def test_a():\n    async def slow():\n        await sleep(9)"),
    ],
)
def test_what_only_looks_like_it_is_not(check, source):
    assert check(source) == []


def test_banned_names_are_found_anywhere_in_a_path():
    assert banned_names(Path("src/armka/core/utils/text.py")) != []
    assert banned_names(Path("src/armka/helpers.py")) != []
    assert banned_names(Path("src/armka/core/jobs/store.py")) == []
