"""A whole service as a third party writes it: the handler stands in the script itself."""

from armka.contract.vocabulary import Pipeline
from armka.sdk import Recognition, Service, Source
from armka.sdk.runtime import run
from tests.sdk.trial_handlers import trial


def recognise(source: Source) -> Recognition:
    return trial(source)


if __name__ == "__main__":
    run(Service("trial", "1.2.3", Pipeline.TABULAR, recognise))
