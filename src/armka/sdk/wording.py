"""What a service tells people about a file that it could not recognise, each saying what to do next."""

MESSAGE_CHARACTERS = 1000

DEADLINE_PASSED = "The time to recognise this file ran out before it was done. Start a new attempt."
STOPPED = "The recognition service was stopped before this file was done. Start a new attempt."
CRASHED = (
    "Reading this file made the recognition program crash, so it is probably damaged or made to do harm. "
    "Open it, save it again and upload the saved file."
)
OUT_OF_MEMORY = "Reading this file takes more memory than one file may use. Split it, or remove what is not the trial balance."
NOT_STARTED = "The recognition program could not be started. Start a new attempt; if it fails again, tell the administrator."
UNEXPECTED = (
    "The recognition service failed on this file for a reason of its own. Start a new attempt; if it fails again, "
    "tell the administrator."
)
SOURCE_MISSING = "The uploaded file is not in the storage any more. Upload it again."
SOURCE_UNREACHABLE = "The storage could not be read before the time to recognise this file ran out. Start a new attempt."
RESULT_NOT_STORED = (
    "The file was recognised, but the storage did not take the result in time. Start a new attempt."
)


def too_slow(seconds: float) -> str:
    """Word that a file took longer than one file may."""
    return f"Reading this file takes longer than the {seconds:g} seconds that one file may use. Split it."


def source_too_large(size: int, limit: int) -> str:
    """Word that the source is not even fetched."""
    return f"The file has {size} bytes, more than the {limit} that can be recognised. Split it."


def result_too_large(limit: int) -> str:
    """Word that the result is not stored."""
    return f"What was read of this file takes more than {limit} bytes. Split it."


def wrong_file_type(file_type: str, pipeline: str) -> str:
    """Word that a file came to a service that does not read its type."""
    return f"A {file_type} file is not read by the {pipeline} pipeline. Upload it again."


def presentable(message: str) -> str:
    """Cut a message to what an envelope carries: no NUL, which PostgreSQL cannot store, no half characters."""
    text = message.replace("\0", "").encode(errors="replace").decode()
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[: MESSAGE_CHARACTERS - 1]}…"
