"""What the two transports do differently, as data: the only place where a check may learn of it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from armka.contract.subjects import Transport


class Trait(StrEnum):
    """What a transport does, and another may not."""

    ANSWERS = "tell every sender the outcome of its envelope"
    GIVES_UP = "publish again what nobody acknowledges, and give up at last"
    KEEPS = "keep every message in a stream until it is acknowledged"


@dataclass(frozen=True)
class Manner:
    """How a transport behaves where both keep the same promise in their own way.

    `unwritable`: what becomes of a job and of its envelope when the database can never take it: the
    job's status, and why the envelope was kept.
    """

    traits: frozenset[Trait]
    unwritable: tuple[str, tuple[str, ...]]


MANNERS: Mapping[Transport, Manner] = {
    Transport.CORE: Manner(
        frozenset({Trait.ANSWERS, Trait.GIVES_UP}), unwritable=("published", ("invalid",))
    ),
    Transport.JETSTREAM: Manner(frozenset({Trait.KEEPS}), unwritable=("dlq", ())),
}
