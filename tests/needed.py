"""Programs that a test cannot do without."""

import os
from typing import Never

import pytest


def lacking(reason: str) -> Never:
    """Skip with the reason; in CI everything must be there, so fail."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)
