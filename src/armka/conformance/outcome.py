"""How a scenario or a check ended."""

from enum import StrEnum


class Outcome(StrEnum):
    """Passed, failed, or not asked, which a report tells with its reason."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_APPLICABLE = "not applicable"
