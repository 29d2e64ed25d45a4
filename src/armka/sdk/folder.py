"""A folder for the files of one process, gone when it ends, however it ends."""

import contextlib
import fcntl
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_PREFIX = "armka-sdk-"
_LOCK = "lock"


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """Make a folder that nobody else reads; clear what killed processes left behind.

    A lock tells whose process is alive. A folder gets its name when it is locked, so that it cannot
    be taken for one that was left behind.
    """
    root = Path(tempfile.gettempdir())
    for left in root.glob(f"{_PREFIX}*"):
        _remove_if_left(left)
    made = Path(tempfile.mkdtemp(prefix="new-", dir=root))
    with (made / _LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = made.rename(root / f"{_PREFIX}{made.name}")
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


def _remove_if_left(folder: Path) -> None:
    with contextlib.suppress(OSError), (folder / _LOCK).open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
