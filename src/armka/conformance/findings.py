"""What a check says when the core does not do what the contract asks."""

from collections.abc import Sequence


class Nonconformance(Exception):
    """The core under test does not keep a promise: what was sent, expected and seen."""

    def __init__(self, expected: str, seen: str, sent: Sequence[str] = ()) -> None:
        lines = [f"sent:     {line}" for line in sent or ["nothing"]]
        super().__init__("\n".join([*lines, f"expected: {expected}", f"seen:     {seen}"]))
        self.expected = expected
        self.seen = seen
        self.sent = tuple(sent)


class Contradicted(Nonconformance):
    """Something was seen that the contract forbids."""


class NotSeen(Nonconformance):
    """What the contract promises did not come within the time that it promises."""


class Trail:
    """What a check has done so far, for its findings."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(self, line: str) -> None:
        """Note one thing that was sent or done."""
        self._lines.append(line)

    @property
    def lines(self) -> list[str]:
        """The last things done; of many, the first are left out."""
        hidden = len(self._lines) - _SHOWN
        return self._lines if hidden <= 0 else [f"({hidden} before)", *self._lines[-_SHOWN:]]


_SHOWN = 12
