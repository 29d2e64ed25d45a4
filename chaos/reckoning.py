"""What came of it: the sender's log against tables, event log and bucket. Pure: rows in, verdict
out.

Every document that was sent falls into one class (the names are those of Jepsen's queue checker):

ok           confirmed to its sender, there once, ended as a quiet run ends, the same lines
lost         confirmed, and not there, or not ended, or not the same
recovered    never confirmed to its sender, and there, and in order
unknown      never confirmed, and not there: the sender knows that it must send again
unexpected   there, and nobody sent it; or there twice
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from chaos.driver import Expected, Sending

Row = Mapping[str, Any]

CLASSES = ("ok", "recovered", "unknown", "lost", "unexpected")


@dataclass
class Reckoning:
    """The classes, and every violation in words."""

    classes: Counter[str] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    unclaimed_results: int = 0
    unswept_uploads: int = 0


@dataclass(frozen=True)
class Found:
    """What is there after the storm."""

    files: Sequence[Row]
    jobs: Sequence[Row]
    digests: Mapping[Any, str]
    objects: Sequence[Row]
    keys: frozenset[str]


def reckon(sent: Sequence[Sending], expected: Mapping[str, Expected], found: Found) -> Reckoning:
    """Class every document, compare the bucket with the tables."""
    reckoning = Reckoning()
    by_ref: dict[str | None, list[Row]] = defaultdict(list)
    for file in found.files:
        by_ref[file["client_ref"]].append(file)
    for sending in sent:
        _class(sending, by_ref.pop(sending.ref, []), expected[sending.sample], found, reckoning)
    for ref, files in by_ref.items():
        reckoning.classes["unexpected"] += len(files)
        reckoning.violations.append(f"unexpected: {len(files)} files of {ref}, which nobody sent")
    _compare_bucket(found, reckoning)
    return reckoning


def _class(
    sending: Sending, files: list[Row], expected: Expected, found: Found, reckoning: Reckoning
) -> None:
    if not files:
        kind = "lost" if sending.is_accepted else "unknown"
        reckoning.classes[kind] += 1
        if sending.is_accepted:
            reckoning.violations.append(f"lost: {sending.ref}, confirmed as {sending.file_id}")
        return
    if len(files) > 1:
        reckoning.classes["unexpected"] += len(files) - 1
        reckoning.violations.append(f"doubled: {sending.ref} is {len(files)} files")
    file = next((row for row in files if row["id"] == sending.file_id), files[0])
    problem = _problem(sending, file, expected, found)
    if problem:
        reckoning.classes["lost"] += 1
        reckoning.violations.append(f"lost: {sending.ref} ({sending.sample}): {problem}")
    else:
        reckoning.classes["ok" if sending.is_accepted else "recovered"] += 1


def _problem(sending: Sending, file: Row, expected: Expected, found: Found) -> str | None:
    """What is wrong with the file that a document became."""
    if sending.is_accepted and file["id"] != sending.file_id:
        return f"it was confirmed as {sending.file_id} and is {file['id']}"
    if file["original_name"] != sending.sample:
        return f"it is called {file['original_name']}"
    end = Expected(file["status"], file["error_code"], found.digests.get(file["id"], ""))
    if (end.status, end.error_code) != (expected.status, expected.error_code):
        return (
            f"it is {end.status}/{end.error_code} by job {file['job_id']}, "
            f"a quiet run gives {expected.status}/{expected.error_code}"
        )
    return None if end == expected else "its lines differ from those of a quiet run"


def _compare_bucket(found: Found, reckoning: Reckoning) -> None:
    """Every object that a row names is there; every other one is explained."""
    named = {row["key"] for row in found.objects}
    reckoning.violations += [
        f"missing: the tables name {key}, the bucket lacks it" for key in sorted(named - found.keys)
    ]
    unanswered = {str(job["id"]) for job in found.jobs if job["result_msg_id"] is None}
    for key in sorted(found.keys - named):
        role, _, rest = key.partition("/")
        if role == "uploads":  # its rows failed; the sweep removes it at its age
            reckoning.unswept_uploads += 1
        elif role == "results" and rest.split("/")[1] in unanswered:  # its job ended without it
            reckoning.unclaimed_results += 1
        else:
            reckoning.violations.append(f"unexpected: the bucket holds {key}")


@dataclass
class Witness:
    """Saw jobs in final statuses during the storm, and remembers what they said."""

    seen: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    looks: int = 0

    def look(self, jobs: Sequence[Row]) -> list[str]:
        """Compare with what was seen before; what changed or is gone, in words."""
        self.looks += 1
        final = {job["id"]: tuple(job.values()) for job in jobs if job["finished_at"] is not None}
        there = {job["id"] for job in jobs}
        changed = [
            f"overwritten: job {job} said {before}, says {final.get(job, 'nothing final')}"
            for job, before in self.seen.items()
            if final.get(job) != before and job in there
        ]
        changed += [f"gone: job {job}" for job in self.seen if job not in there]
        self.seen |= final
        return changed
