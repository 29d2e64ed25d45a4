"""The process between the stack and one server: the server never outlives whoever started it.

Run as a script, alone (`python -I -S guard.py`), so it imports nothing of ours and starts in
milliseconds. It reads its plan, which may hold secrets, from the first line of stdin, becomes the
server's parent, says the server's pid on stdout and ends with it. It stops the server when its own
stdin is closed: by `stop()`, or by the kernel when the parent was killed. That works for any death
of the parent and on every POSIX system, and does not depend on the thread that started it, as a
parent-death signal would; on Linux such a signal guards against the death of the guard itself.
"""

import ctypes
import json
import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn, TypedDict

_POLL_SECONDS = 1.0
_CLONE_NEWUSER = 0x10000000
_PR_SET_PDEATHSIG, _PR_SET_SECUREBITS, _PR_CAP_AMBIENT = 1, 28, 47
_SECBIT_NO_SETUID_FIXUP, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE = 4, 2, 1
_CAPABILITY_VERSION_3 = 0x20080522


class Plan(TypedDict):
    """What to run and how to end it; one line of JSON on stdin."""

    argv: list[str]
    env: dict[str, str]
    cwd: str
    log: str
    parent: int
    stop_signal: int
    grace_seconds: float
    sweep: list[str]  # globs of files to remove once the server has ended
    identity: str  # as_is | user_namespace | nobody
    uid: int  # who the server believes to be, or is; unused with as_is
    gid: int


def children_of(pid: int) -> list[int]:
    """The direct children of a process."""
    if not sys.platform.startswith("linux"):
        listing = subprocess.check_output(["/bin/ps", "-A", "-o", "pid=,ppid="], text=True)
        pairs = (line.split() for line in listing.splitlines())
        return [int(child) for child, parent in pairs if int(parent) == pid]
    return [int(p.name) for p in Path("/proc").glob("[0-9]*") if _parent_of(p) == pid]


def _parent_of(process: Path) -> int | None:
    try:
        return int((process / "stat").read_text().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def signal_tree(pid: int, number: int) -> None:
    """Signal a server and its children.

    PostgreSQL's live in sessions of their own, out of reach of a signal to the group.
    """
    if number != signal.SIGCONT:
        _signal(pid, signal.SIGSTOP)  # it forks no more while its children are counted
    for member in (*children_of(pid), pid):
        _signal(member, number)


def _stands(pid: int) -> bool:
    """Whether no thread of it runs; taken for granted where there is no /proc."""
    states = {_state_of(task) for task in Path(f"/proc/{pid}/task").glob("[0-9]*")}
    return states <= {"T", "t", "Z", "X", ""}


def _state_of(task: Path) -> str:
    try:
        return (task / "stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def _signal(pid: int, number: int) -> None:
    """Send a signal; SIGSTOP returns once each thread has heard it, so that none answers still."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
    end = time.monotonic() + _POLL_SECONDS
    while number == signal.SIGSTOP and not _stands(pid) and time.monotonic() < end:
        time.sleep(0.001)


def _libc_call(name: str, *arguments: object) -> None:
    if getattr(ctypes.CDLL(None, use_errno=True), name)(*arguments) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _enter_user_namespace(uid: int, gid: int) -> None:
    """Be another user in one's own eyes only: files keep their owner, nothing outside changes."""
    outside_uid, outside_gid = os.geteuid(), os.getegid()
    _libc_call("unshare", _CLONE_NEWUSER)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {outside_uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {outside_gid} 1")


def _become_nobody(uid: int, gid: int) -> None:
    """Give up root for good, but keep the right to enter folders that only root may enter."""
    if sys.platform.startswith("linux"):
        _libc_call("prctl", _PR_SET_SECUREBITS, _SECBIT_NO_SETUID_FIXUP, 0, 0, 0)
        _inherit_capability(_CAP_DAC_OVERRIDE)
    os.setgroups([])
    os.setgid(gid)
    os.setuid(uid)
    if sys.platform.startswith("linux"):
        _libc_call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_RAISE, _CAP_DAC_OVERRIDE, 0, 0)


def _inherit_capability(capability: int) -> None:
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    sets = (ctypes.c_uint32 * 6)()  # two words each of effective, permitted, inheritable
    _libc_call("capget", header, sets)
    sets[2] |= 1 << capability
    _libc_call("capset", header, sets)


def _die_with(guard: int, number: int) -> None:
    if sys.platform.startswith("linux"):
        _libc_call("prctl", _PR_SET_PDEATHSIG, number, 0, 0, 0)
    if os.getppid() != guard:
        os._exit(1)


def _run_server(plan: Plan, guard: int) -> NoReturn:
    """In the forked child: become the server."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    try:
        if plan["identity"] == "user_namespace":
            _enter_user_namespace(plan["uid"], plan["gid"])
        elif plan["identity"] == "nobody":
            _become_nobody(plan["uid"], plan["gid"])
        _die_with(guard, plan["stop_signal"])
        os.chdir(plan["cwd"])
        os.execve(plan["argv"][0], plan["argv"], plan["env"])  # noqa: S606 - no shell on purpose
    except OSError as error:
        os.write(2, f"cannot run {plan['argv'][0]}: {error}\n".encode())
    os._exit(127)


def _start(plan: Plan) -> int:
    guard = os.getpid()
    log = os.open(plan["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(log, 1)
        os.dup2(log, 2)
        _run_server(plan, guard)
    os.close(log)
    return pid


def _exit_status(pid: int, options: int) -> int | None:
    """The server's exit status (128 + n for signal n), None while it runs."""
    done, status = os.waitpid(pid, options)
    if not done:
        return None
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _wait(pid: int, parent: int, wakeup: int) -> int | None:
    """Wait until the server ends (its status), or the parent is gone or wants it to end (None)."""
    while True:
        if (status := _exit_status(pid, os.WNOHANG)) is not None:
            return status
        readable, _, _ = select.select([0, wakeup], [], [], _POLL_SECONDS)
        if 0 in readable or os.getppid() != parent:
            return None
        if wakeup in readable and signal.SIGTERM in os.read(wakeup, 64):
            return None


def _stop(plan: Plan, pid: int, wakeup: int) -> int:
    signal_tree(pid, signal.SIGCONT)
    _signal(pid, plan["stop_signal"])
    until = time.monotonic() + plan["grace_seconds"]
    while (left := until - time.monotonic()) > 0:
        if (status := _exit_status(pid, os.WNOHANG)) is not None:
            return status
        if select.select([wakeup], [], [], left)[0]:
            os.read(wakeup, 64)
    signal_tree(pid, signal.SIGKILL)
    return _exit_status(pid, 0) or 0


def _read_plan() -> Plan:
    line = b""
    while not line.endswith(b"\n"):
        part = os.read(0, 65536)
        if not part:
            sys.exit(1)
        line += part
    plan: Plan = json.loads(line)
    return plan


def main() -> int:
    plan = _read_plan()
    wakeup, wakeup_end = os.pipe()
    os.set_blocking(wakeup_end, False)
    signal.set_wakeup_fd(wakeup_end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGCHLD, signal.SIGTERM):
        signal.signal(number, lambda *_: None)
    pid = _start(plan)
    os.write(1, f"{pid}\n".encode())
    status = _wait(pid, plan["parent"], wakeup)
    if status is None:
        status = _stop(plan, pid, wakeup)
    for pattern in plan["sweep"]:
        for path in Path(pattern).parent.glob(Path(pattern).name):
            if path.lstat().st_uid == os.geteuid():
                path.unlink(missing_ok=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
