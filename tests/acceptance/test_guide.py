"""docs/howto/write-a-service.md, followed to the letter."""

import asyncio
import os
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs/howto/write-a-service.md").read_text()
BLOCKS = dict(re.findall(r"<!-- (\S+) -->\n```\w*\n(.*?)```", GUIDE, re.DOTALL))


@pytest.mark.parametrize("name", BLOCKS)
def test_a_file_of_the_guide_is_the_examples(name: str) -> None:
    """What a newcomer copies is what is judged."""
    assert (ROOT / name).read_text() == BLOCKS[name]


def test_the_service_has_twenty_lines() -> None:
    """Beside its imports and empty lines."""
    lines = BLOCKS["examples/python-service/service.py"].splitlines()
    counted = [line for line in lines if line and not line.startswith(("from ", "import "))]
    assert len(counted) <= 20


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The newcomer's folder, written from the guide."""
    for name, text in BLOCKS.items():
        (tmp_path / Path(name).name).write_text(text)
    return tmp_path


async def ran(folder: Path, *words: str) -> str:
    """What a command of the guide says; it must succeed."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", *words, cwd=folder,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT / "src"), "HOME": str(folder)},
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
    )  # fmt: skip
    out, _ = await process.communicate()
    assert process.returncode == 0, out.decode()
    return out.decode()


async def test_its_tests_pass(folder: Path) -> None:
    """`pytest`."""
    assert "2 passed" in await ran(folder, "pytest", "-q")


@pytest.mark.timeout(400)
async def test_its_verdict_is_green(folder: Path) -> None:
    """`armka conform service …`, as it stands there, with a smaller burst and less patience to
    repeat.
    """
    (command,) = re.findall(r"    armka (conform service .*?report\.html)\n", GUIDE, re.DOTALL)
    with (folder / "capabilities.toml").open("a") as capabilities:
        capabilities.write("burst = 50\n")
    given = command.replace("\\\n", " ").replace('"python service.py"', "COMMAND")
    words = [
        f"env SERVICE_REPEAT_SECONDS=2 {sys.executable} service.py" if it == "COMMAND" else it
        for it in given.split()
    ]
    said = await ran(folder, "armka.cli", *words)
    assert "A recognition service conforms: 33 passed, 0 failed" in said
    assert (folder / "report.html").exists()
