"""Prints docs/reference/settings.md: every setting that a settings.py of the product declares."""

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings

SOURCE = Path(__file__).parents[1] / "src"

HEAD = """\
# Settings

Read from the environment; an empty variable counts as unset. Change this page in the code, then
run `make reference`."""

COMMANDS = """\
## The command line

| Variable | Default | Meaning |
|---|---|---|
| `ARMKA_URL` | `http://127.0.0.1:8080` | Where the commands that ask the API find it. |
| `API_TOKEN` | *unset* | The token that they send. |
| `LOG_LEVEL` | `INFO` | Of `armka core` and `armka service`; DEBUG where `DEBUG` is true. |"""


def settings() -> Iterator[type[BaseSettings]]:
    """The settings classes, room by room."""
    for path in sorted(SOURCE.rglob("settings.py")):
        name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
        module = importlib.import_module(name)
        for _, member in inspect.getmembers(module, inspect.isclass):
            if issubclass(member, BaseSettings) and member.__module__ == name:
                yield member


def section(part: type[BaseSettings]) -> str:
    room = part.__module__.removeprefix("armka.").removesuffix(".settings")
    rows = [row(part, name, field) for name, field in part.model_fields.items()]
    return "\n".join(
        [
            f"## {room}: {part.__name__}",
            "",
            "| Variable | Default | Meaning |",
            "|---|---|---|",
            *rows,
        ]
    )


def row(part: type[BaseSettings], name: str, field: FieldInfo) -> str:
    variable = field.validation_alias or (part.model_config["env_prefix"] + name).upper()
    return f"| `{variable}` | {default(field)} | {field.description or ''} |"


def default(field: FieldInfo) -> str:
    """Secrets have no default worth showing; a computed one depends on the machine."""
    if field.is_required():
        return "*required*"
    if field.default_factory:
        return "*computed*"
    value = field.default
    if value is None or isinstance(value, SecretStr):
        return "*unset*"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


if __name__ == "__main__":
    print("\n\n".join([HEAD, *(section(part) for part in settings()), COMMANDS]))
