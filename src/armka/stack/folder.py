"""A folder that one stack or server owns: locked, private to its user, secrets beside the data."""

import fcntl
import json
import os
import secrets
import time
from asyncio import sleep
from pathlib import Path

from armka.stack.errors import FolderInUse, FolderNotOurs

LOCK_NAME = "lock"
_DYING_SECONDS = 15.0


def adopt(folder: Path) -> Path:
    """Make `folder` (or take an empty or earlier used one), mode 0700; return its absolute path.

    Parents that exist keep their mode and owner. A folder with other things in it is refused.
    """
    folder = folder.absolute()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if (folder / LOCK_NAME).exists():
        return folder
    if any(folder.iterdir()):
        raise FolderNotOurs(folder, "is not empty and holds no data of the embedded servers")
    if folder.stat().st_uid != os.geteuid():
        raise FolderNotOurs(folder, "belongs to another user")
    folder.chmod(0o700)
    return folder


class FolderLock:
    """An advisory lock on `folder/lock`.

    It also holds while a process lives that inherited its descriptor.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._path = folder / LOCK_NAME
        self._descriptor = -1

    async def acquire(self) -> int:
        """Take the lock and return its descriptor; wait for what a killed owner left to die.

        FolderInUse at once if another process that took it lives, else after 15 s.
        """
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            await self._lock(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"%d\n" % os.getpid(), 0)
        self._descriptor = descriptor
        return descriptor

    async def _lock(self, descriptor: int) -> None:
        until = time.monotonic() + _DYING_SECONDS
        while True:
            try:
                return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                owner = _pid_in(descriptor)
                if (_lives(owner) and owner != os.getpid()) or time.monotonic() > until:
                    raise FolderInUse(self._folder, owner) from None
            await sleep(0.02)

    def release(self) -> None:
        """Close this process's descriptor; processes that inherited it keep the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _pid_in(descriptor: int) -> int | None:
    text = os.pread(descriptor, 32, 0).strip()
    return int(text) if text.isdigit() else None


def _lives(pid: int | None) -> bool:
    if pid is None:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def secret(folder: Path, name: str) -> str:
    """The random secret `name` of this folder: 64 hex digits, made once and kept, mode 0600."""
    path = folder / "secrets.json"
    known: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}
    if name not in known:
        known[name] = secrets.token_hex(32)
        replace_private(path, json.dumps(known, indent=2) + "\n")
    return known[name]


def replace_private(path: Path, text: str) -> None:
    """Write a file of mode 0600 so that a reader sees the old or the new one, never a part."""
    part = path.with_name(f".{path.name}.part")
    part.unlink(missing_ok=True)
    part.touch(mode=0o600, exist_ok=False)
    part.write_text(text)
    part.replace(path)
