"""The JSON Schemas and examples as shipped in the package."""

import json
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

REQUEST = "recognition-request.schema.json"
ENVELOPE = "recognition-result-message.schema.json"
RESULT = "recognition-result.schema.json"


def root() -> Traversable:
    """The folder that holds the schemas and `examples/`."""
    return files("armka.contract") / "schemas"


def load(name: str) -> dict[str, Any]:
    """Read one schema by its file name."""
    schema: dict[str, Any] = json.loads((root() / name).read_text(encoding="utf-8"))
    return schema
