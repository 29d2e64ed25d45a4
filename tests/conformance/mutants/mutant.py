"""A mutant: a core with one deliberate fault, and the scenarios that must see it."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from armka.core.database.queries import Queries


@dataclass(frozen=True)
class Mutant:
    """`apply` patches the core before it starts; `database` is run on its database before that."""

    id: str
    fault: str
    caught_by: tuple[str, ...]
    apply: Callable[[], None]
    database: str


def mutant(*caught_by: str, database: str = "") -> Callable[[Callable[[], None]], Mutant]:
    """Make a patching function a mutant; its docstring tells the fault."""

    def make(apply: Callable[[], None]) -> Mutant:
        name = getattr(apply, "__name__", "")
        fault = " ".join((inspect.getdoc(apply) or "").split())
        return Mutant(name.replace("_", "-"), fault, caught_by, apply, database)

    return make


def edit(queries: Queries, name: str, old: str, new: str) -> None:
    """Change a named statement; what is to be changed must be there."""
    statement = getattr(queries, name)
    assert old in statement, f"{name} has changed: the mutant edits what is no longer there"
    queries._statements[name] = statement.replace(old, new)


# The transition guard's function, taken away: the statements' own guards are on their own.
WITHOUT_GUARD = """
create or replace function recognition_job_may_move(from_status text, to_status text)
returns boolean language sql immutable parallel safe return true
"""
