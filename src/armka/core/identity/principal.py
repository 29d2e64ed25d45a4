"""Whoever asks for something, and what they may do. Pure."""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID


class Role(StrEnum):
    """What a person is here for. One may have several."""

    ANALYST = "analyst"  # documents of clients: brings them in, reads, corrects
    OPERATOR = "operator"  # the exchange: what is stuck, what failed, new attempts
    MANAGER = "manager"  # answers for the analysts' work: all of theirs, many at once, the audit
    ADMIN = "admin"  # who may come in; everything else too


class Scope(StrEnum):
    """What a machine's token is for."""

    FILES_READ = "files:read"
    FILES_UPLOAD = "files:upload"
    FILES_MANAGE = "files:manage"
    FILES_REVIEW = "files:review"
    ATTEMPTS = "attempts"
    JOBS_READ = "jobs:read"
    METRICS_READ = "metrics:read"
    IDENTITY = "identity"


class Kind(StrEnum):
    """How somebody is known."""

    USER = "user"  # a person who signed in, or whose access token came
    TOKEN = "token"  # noqa: S105 - a machine with a token of its own
    SETTING = "setting"  # whoever knows API_TOKEN
    OPEN = "open"  # anybody, where the API is open
    NOBODY = "nobody"  # who tries to come in


@dataclass(frozen=True)
class Principal:
    """Who asks; a person by roles, a machine by scopes. `address` is where they ask from."""

    kind: Kind
    name: str
    id: UUID | None = None
    roles: frozenset[Role] = frozenset()
    scopes: frozenset[Scope] | None = None
    address: str | None = None

    @property
    def is_known(self) -> bool:
        """Whether the name is somebody's own, so that it stands for what they did."""
        return self.kind in {Kind.USER, Kind.TOKEN}

    def acting(self, told: str | None) -> str:
        """Whose deed it is: the caller's, or whom one without a name of its own acts for."""
        return self.name if self.is_known else told or "api"


def nobody(address: str | None = None) -> Principal:
    """Who has not come in yet."""
    return Principal(Kind.NOBODY, "", address=address)
