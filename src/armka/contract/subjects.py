"""Which subject carries what, on which transport (§3, N1)."""

from enum import StrEnum

import msgspec

from armka.contract.vocabulary import Pipeline


class Transport(StrEnum):
    """How messages travel over NATS."""

    CORE = "core"
    JETSTREAM = "jetstream"


# The core's queue group, and the name of its durable consumer.
CORE_RESULTS = "arm-core-results"


class Subjects(msgspec.Struct, frozen=True):
    """The three subjects of the exchange."""

    tabular_request: str
    image_request: str
    result: str

    def request(self, pipeline: Pipeline) -> str:
        """The subject that requests of a pipeline go to."""
        return self.tabular_request if pipeline is Pipeline.TABULAR else self.image_request


DEFAULTS = {
    Transport.CORE: Subjects(
        "files.tabular_uploaded", "files.img_uploaded", "files.tabular_parsed"
    ),
    Transport.JETSTREAM: Subjects(
        "recognition.tabular.request", "recognition.image.request", "recognition.result"
    ),
}
