"""What the server lets this user do, as the server itself tells it."""

import msgspec
import nats
from nats.aio.client import Client

_QUESTION = "$SYS.REQ.USER.INFO"
_ANSWER_SECONDS = 2.0


class NotTold(Exception):
    """The server does not answer questions about permissions to this user."""

    def __init__(self) -> None:
        super().__init__(f"this user may not ask {_QUESTION}, so its permissions are not known")


class _Side(msgspec.Struct):
    allow: list[str] = []
    deny: list[str] = []


class _Permissions(msgspec.Struct):
    publish: _Side = msgspec.field(default_factory=_Side)
    subscribe: _Side = msgspec.field(default_factory=_Side)


class _User(msgspec.Struct):
    permissions: _Permissions = msgspec.field(default_factory=_Permissions)


class _Answer(msgspec.Struct):
    data: _User


class Permissions:
    """Allowed and denied subjects; with nothing allowed by name, everything is."""

    def __init__(self, publish: _Side, subscribe: _Side) -> None:
        self._publish = publish
        self._subscribe = subscribe

    def may_publish(self, subject: str) -> bool:
        """Whether messages may go to the subject."""
        return _allows(self._publish, subject, "")

    def may_subscribe(self, subject: str, queue: str) -> bool:
        """Whether the subject may be listened to in this queue group."""
        return _allows(self._subscribe, subject, queue)


async def permissions(client: Client) -> Permissions:
    """Ask for this user's permissions; raises NotTold."""
    try:
        reply = await client.request(_QUESTION, b"", timeout=_ANSWER_SECONDS)
        told = msgspec.json.decode(reply.data, type=_Answer).data.permissions
    except (nats.errors.Error, OSError, msgspec.DecodeError) as error:
        raise NotTold from error
    return Permissions(told.publish, told.subscribe)


def _allows(side: _Side, subject: str, queue: str) -> bool:
    if any(_covers(entry, subject, queue) for entry in side.deny):
        return False
    return not side.allow or any(_covers(entry, subject, queue) for entry in side.allow)


def _covers(entry: str, subject: str, queue: str) -> bool:
    """Whether an entry, `subject` or `subject queue`, with wildcards, is about this subject."""
    pattern, _, group = entry.partition(" ")
    return _matches(pattern, subject) and (not group or _matches(group, queue))


def _matches(pattern: str, subject: str) -> bool:
    wanted, given = pattern.split("."), subject.split(".")
    for index, part in enumerate(wanted):
        if part == ">":
            return index < len(given)
        if index >= len(given) or part not in ("*", given[index]):
            return False
    return len(wanted) == len(given)
