import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NOT_OURS = {"__pycache__", "build", "dist"}


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


@pytest.fixture(scope="session")
def tree() -> list[Path]:
    """Every file of the project, as git sees it: tracked, or new and not ignored."""
    if not (ROOT / ".git").exists():
        return _unpacked_tree()
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout.decode()
    return [path for name in names.split("\0") if name and (path := ROOT / name).is_file()]


def _unpacked_tree() -> list[Path]:
    """The same for an unpacked sdist or a copy without its history."""
    tops = [path for path in ROOT.iterdir() if not path.name.startswith(".")]
    found = [file for top in tops for file in (top.rglob("*") if top.is_dir() else [top])]
    return [file for file in found if file.is_file() and not NOT_OURS & set(file.parts)]


@pytest.fixture(scope="session")
def python(tree: list[Path]) -> list[Path]:
    """The Python files of the product and of its tests."""
    return [path for path in tree if path.suffix == ".py"]


@pytest.fixture(scope="session")
def product(python: list[Path]) -> list[Path]:
    """The Python files of the product."""
    return [path for path in python if path.is_relative_to(ROOT / "src")]
