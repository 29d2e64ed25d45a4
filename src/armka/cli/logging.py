"""Logs of the long-running commands: structured, on stderr."""

import logging
import os
import sys

import structlog
from structlog.typing import Processor


def configure(*, debug: bool = False) -> None:
    """JSON lines where stderr is no terminal, plain text on one.

    LOG_LEVEL sets the level; where it is not set, `debug` asks for DEBUG instead of INFO.
    """
    name = os.environ.get("LOG_LEVEL", "DEBUG" if debug else "INFO").upper()
    level = logging.getLevelNamesMapping().get(name, logging.INFO)
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    shown = _for_people() if sys.stderr.isatty() else _for_programs()
    structlog.configure(
        processors=[*shared, *shown],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=True,
    )
    _take_in_libraries(shared, shown)


def _take_in_libraries(shared: list[Processor], shown: list[Processor]) -> None:
    """What libraries log by the standard means looks like the rest; their warnings only."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *shown],
        )
    )
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)


def _for_people() -> list[Processor]:
    return [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]


def _for_programs() -> list[Processor]:
    # Tracebacks without local variables: they hold secrets and documents.
    traceback = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
    return [
        structlog.processors.ExceptionRenderer(traceback),
        structlog.processors.JSONRenderer(ensure_ascii=False),
    ]
