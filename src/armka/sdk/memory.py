"""Which jobs this process has taken on: until their deadline, in bounded memory (C4.7)."""

import heapq
from uuid import UUID

# A job whose deadline was past on receipt is repeated too: three times in two minutes (O3).
REMEMBER_AT_LEAST_SECONDS = 600.0


class HandledJobs:
    """The jobs in work, and those answered whose deadline has not passed yet.

    Times are Unix time in seconds. At most `capacity` answered jobs are remembered: beyond it, the
    one whose deadline is nearest is forgotten first. A repeat of a forgotten job is recognised once
    more, and the core takes its result as a duplicate. Jobs in work are never forgotten; the
    backlog bounds them.
    """

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._in_work: set[UUID] = set()
        self._answered: set[UUID] = set()
        self._by_expiry: list[tuple[float, UUID]] = []

    def __contains__(self, job: object) -> bool:
        return job in self._in_work or job in self._answered

    def __len__(self) -> int:
        return len(self._in_work) + len(self._answered)

    def take_on(self, job: UUID) -> None:
        """A job is in work from now on."""
        self._in_work.add(job)

    def forget(self, job: UUID) -> None:
        """A job in work was lost: a repeat of it is a new one."""
        self._in_work.discard(job)

    def answered(self, job: UUID, *, deadline: float, now: float) -> None:
        """A job is answered; a repeat of it starts nothing until `deadline`."""
        self._in_work.discard(job)
        if job not in self._answered:
            self._answered.add(job)
            expiry = max(deadline, now + REMEMBER_AT_LEAST_SECONDS)
            heapq.heappush(self._by_expiry, (expiry, job))
        while len(self._by_expiry) > self._capacity:
            self._forget_first()

    def forget_expired(self, now: float) -> None:
        """Forget the answered jobs that nobody repeats any more."""
        while self._by_expiry and self._by_expiry[0][0] < now:
            self._forget_first()

    def _forget_first(self) -> None:
        _, job = heapq.heappop(self._by_expiry)
        self._answered.discard(job)
