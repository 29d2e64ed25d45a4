"""What each error means to the person whose document it is, and what to do next. Pure."""

from dataclasses import dataclass
from enum import StrEnum

from armka.core.history.words import say


class Retry(StrEnum):
    """Whether recognising the same file again makes sense."""

    NOW = "now"
    LATER = "later"  # once somebody has mended what is told of
    USELESS = "useless"  # it would end the same way


@dataclass(frozen=True)
class Advice:
    """What happened, what to do next (English, known to the catalogs), and whether to retry."""

    what: str
    next: str
    retry: Retry


# The contract's codes (C2), then the core's own (O3, I6, M1).
ADVICE: dict[str, Advice] = {
    "UNSUPPORTED_FORMAT": Advice(
        say("The format is not supported."),
        say("Save the document as XLSX or PDF and upload that file."),
        Retry.USELESS,
    ),
    "UNREADABLE": Advice(
        say("The document could not be read."),
        say(
            "Open it yourself: is it whole, is the scan sharp? Scan it again at 300 dpi, or"
            " ask the client for the workbook from 1C, and upload that."
        ),
        Retry.USELESS,
    ),
    "TIMEOUT": Advice(
        say("The recognition took too long."),
        say(
            "Recognise it again. If it ends the same way, upload the document in parts, or "
            "tell the operator."
        ),
        Retry.NOW,
    ),
    "SCHEMA_MISMATCH": Advice(
        say("The service and the core did not understand each other."),
        say(
            "Tell the operator what stands under “Details”: the service must be brought up "
            "to date first."
        ),
        Retry.LATER,
    ),
    "NOT_IMPLEMENTED": Advice(
        say("The service cannot read such documents yet."),
        say("Ask the client for another report: an ordinary trial balance, saved as XLSX."),
        Retry.USELESS,
    ),
    "FILE_READ_ERROR": Advice(
        say("The service could not fetch the document."),
        say(
            "The document itself is safe. Recognise it again in a few minutes; if it ends "
            "the same way, tell the operator."
        ),
        Retry.NOW,
    ),
    "INVALID_FORMAT": Advice(
        say("The file is damaged or protected with a password."),
        say("Open it, save it without a password as XLSX or PDF, and upload that file."),
        Retry.USELESS,
    ),
    "INVALID_DOCUMENT": Advice(
        say("No trial balance was found in it."),
        say(
            "Look whether it is the right file: a journal, an account card or a letter is "
            "no trial balance. Upload the right one."
        ),
        Retry.USELESS,
    ),
    "RECOGNITION_FAILED": Advice(
        say("The recognition failed."),
        say(
            "Recognise it again. If it ends the same way, scan the pages anew, or tell the "
            "operator."
        ),
        Retry.NOW,
    ),
    "UNKNOWN_ERROR": Advice(
        say("The recognition failed for an unknown reason."),
        say(
            "Recognise it again. If it ends the same way, tell the operator what stands "
            "under “Details”."
        ),
        Retry.NOW,
    ),
    "NO_ACK": Advice(
        say("No recognition service took it."),
        say(
            "The service is probably not running: tell the operator. When it is back, "
            "recognise the document again."
        ),
        Retry.LATER,
    ),
    "POISON_MESSAGE": Advice(
        say("The service's answer could not be processed."),
        say(
            "Recognise it again. If it ends the same way, tell the operator what stands "
            "under “Details”."
        ),
        Retry.NOW,
    ),
    "INVALID_RESULT": Advice(
        say("The service's result cannot be used."),
        say(
            "Recognise it again. If it ends the same way, tell the operator what stands "
            "under “Details”."
        ),
        Retry.NOW,
    ),
}


def advice_for(code: str) -> Advice:
    """The advice of an error code; a code that nobody knows is an unknown error."""
    return ADVICE.get(code, ADVICE["UNKNOWN_ERROR"])
