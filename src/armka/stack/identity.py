"""Who a server runs as. PostgreSQL refuses to run as root, and wants its user to have a name."""

import asyncio
import os
import pwd
import sys
from dataclasses import dataclass
from pathlib import Path

from armka.stack.errors import FolderNotOurs, NoUserForPostgres, StackError
from armka.stack.guard import Plan
from armka.stack.supervised import Supervised

_NOBODY = 65_534


@dataclass(frozen=True)
class Identity:
    """`way`: as_is; user_namespace (root, seen as `uid` from inside); nobody (`uid` in fact).

    `owner` is the uid that the files of the server have when they are seen from here.
    """

    way: str
    uid: int = 0
    gid: int = 0

    @property
    def owner(self) -> int:
        return self.uid if self.way == "nobody" else os.geteuid()


AS_IS = Identity("as_is")


@dataclass(frozen=True)
class Command:
    """A program to run under an identity, once or as a server."""

    argv: tuple[str, ...]
    cwd: Path
    log: Path
    env: tuple[tuple[str, str], ...] = ()
    stop_signal: int = 15
    grace_seconds: float = 10.0
    sweep: tuple[str, ...] = ()

    def plan(self, identity: Identity) -> Plan:
        base = {"PATH": os.defpath, "LANG": "C.UTF-8", "TZ": "UTC", "HOME": str(self.cwd)}
        return Plan(
            argv=list(self.argv),
            env=base | dict(self.env),
            cwd=str(self.cwd),
            log=str(self.log),
            parent=os.getpid(),
            stop_signal=self.stop_signal,
            grace_seconds=self.grace_seconds,
            sweep=list(self.sweep),
            identity=identity.way,
            uid=identity.uid,
            gid=identity.gid,
        )


async def run_once(name: str, command: Command, identity: Identity) -> tuple[int, str]:
    """Run to the end and return (exit status, the end of what it said)."""
    process = Supervised(name, command.plan(identity))
    try:
        await process.started()
        return await process.ended(), process.log_tail()
    except BaseException:
        await process.stop()
        raise


async def choose_identity(postgres: Path, home: Path, log: Path) -> Identity:
    """The first identity under which PostgreSQL's program runs and reaches `home`."""
    candidates = _candidates()
    if candidates == [AS_IS]:
        return AS_IS
    reasons: dict[str, str] = {}
    check = Command((str(postgres), "--version"), home, log)
    for candidate in candidates:
        status, said = await run_once("postgres", check, candidate)
        if status == 0:
            return candidate
        reasons[candidate.way.replace("_", " ")] = said.strip().rpartition("\n")[2]
    raise NoUserForPostgres(reasons)


def _candidates() -> list[Identity]:
    named = _named_user()
    if os.geteuid() != 0:
        if _has_name(os.geteuid()) or sys.platform != "linux":
            return [AS_IS]
        return [Identity("user_namespace", named.pw_uid, named.pw_gid)]
    nobody = Identity("nobody", named.pw_uid, named.pw_gid)
    if sys.platform != "linux":
        return [nobody]
    return [Identity("user_namespace", named.pw_uid, named.pw_gid), nobody]


def _has_name(uid: int) -> bool:
    try:
        return bool(pwd.getpwuid(uid))
    except KeyError:
        return False


def _named_user() -> pwd.struct_passwd:
    """`nobody`, or where a slim system has none, any user but root."""
    users = [user for user in pwd.getpwall() if user.pw_uid != 0]
    if not users:
        raise StackError("/etc/passwd names no user but root; PostgreSQL needs one to run as")
    return min(users, key=lambda user: (user.pw_uid != _NOBODY, user.pw_name != "nobody"))


async def give_to(identity: Identity, folder: Path) -> None:
    """Make the server's own data `folder` belong to the identity; another user's is refused."""
    owner = (await asyncio.to_thread(folder.stat)).st_uid
    if owner == identity.owner:
        return
    if os.geteuid() != 0 or owner not in (0, identity.uid):
        raise FolderNotOurs(folder, f"belongs to user {owner}")
    await asyncio.to_thread(_chown_tree, folder, identity.owner)


def _chown_tree(folder: Path, uid: int) -> None:
    for path in (folder, *folder.rglob("*")):
        os.chown(path, uid, -1, follow_symlinks=False)
