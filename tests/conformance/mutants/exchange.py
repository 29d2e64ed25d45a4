"""Faults of what the loops share: the database, the wake-ups, starting and stopping."""

import asyncio
import os
from typing import Any

from armka.core.assembly import Core
from armka.core.database.listener import Listener
from armka.core.loop import Loop
from armka.messaging.settings import NatsSettings
from tests.conformance.mutants.mutant import mutant


@mutant(
    "the-database-refuses-what-is-not-in-the-graph", "every-transition-can-be-seen-afterwards",
    "results-and-watchdogs-meet-at-the-deadline",
    database="alter table recognition_job disable trigger recognition_job_moved",
)  # fmt: skip
def nothing_guards_the_table() -> None:
    """The table's trigger is off: no guard, no events."""


@mutant("an-insert-wakes-the-outbox")
def does_not_listen() -> None:
    """NOTIFY reaches nobody."""

    async def run(self: Listener) -> None:
        await asyncio.Event().wait()

    Listener.run = run


@mutant("cut-connections-lose-nothing", "jobs-wait-for-the-broker")
def a_loop_dies_of_its_first_error() -> None:
    """A loop that met an outage never runs again."""

    def failed(self: Loop, error: Exception) -> float:
        raise error

    Loop._failed = failed


@mutant("stopping-leaves-nothing-half-done")
def falls_down_at_sigterm() -> None:
    """Ends at once, with whatever was in its hands."""

    async def drain(self: Core, *_: Any) -> None:
        os._exit(1)

    Core._drain = drain


@mutant("without-nats-no-loop-runs")
def runs_its_loops_always() -> None:
    """NATS_ENABLED=false is overlooked."""
    os.environ.pop("NATS_ENABLED", None)


@mutant("subjects-can-be-elsewhere")
def knows_the_usual_subjects_only() -> None:
    """Overridden subjects are overlooked."""
    for name in ("TABULAR_REQUEST", "IMAGE_REQUEST", "RESULT"):
        os.environ.pop(f"NATS_SUBJECT_{name}", None)
    assert NatsSettings().subject_result is None
