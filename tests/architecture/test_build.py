"""What leaves the house: the wheel carries the contract, also when it is made from the sdist."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.smoke


def build(source: Path, target: str, into: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "hatchling",
        "build",
        "--target",
        target,
        "--directory",
        str(into),
    ]
    subprocess.run(command, cwd=source, check=True, timeout=60)
    [built] = into.iterdir()
    return built


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if "dist-info" not in name}


def expected(root: Path) -> set[str]:
    package = root / "src/armka"
    files = {f"armka/{path.relative_to(package)}" for path in package.rglob("*") if path.is_file()}
    contract = root / "docs/contracts"
    files |= {
        f"armka/contract/schemas/{path.relative_to(contract)}"
        for path in contract.rglob("*")
        if path.is_file()
    }
    return {name for name in files if "__pycache__" not in name}


def test_a_wheel_of_the_tree_carries_the_contract(root, tmp_path):
    assert names(build(root, "wheel", tmp_path)) == expected(root)


def test_a_wheel_of_the_sdist_carries_the_contract(root, tmp_path):
    sdist = build(root, "sdist", tmp_path / "sdist")
    (tmp_path / "tree").mkdir()
    subprocess.run(["tar", "-xzf", sdist, "-C", tmp_path / "tree"], check=True, timeout=60)
    [tree] = (tmp_path / "tree").iterdir()

    assert names(build(tree, "wheel", tmp_path / "wheel")) == expected(root)
    assert (tree / "docs/contracts/recognition-result.schema.json").is_file()
