"""`armka`: the one entry point."""

import typer

from armka.cli import core, demo, files, jobs, stack, upload

app = typer.Typer(
    name="armka",
    help="arm-ka: trial balances (ОСВ) recognised over NATS, checked, never lost or doubled.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=True,
)
app.command("stack")(stack.stack)
app.command("migrate")(core.migrate)
app.command("core")(core.core)
app.command("upload")(upload.upload)
app.command("demo")(demo.demo)
app.add_typer(files.app, name="files")
app.add_typer(jobs.app, name="jobs")


def main() -> None:
    """Run the command line."""
    app()
