"""The command line: a file per command group. Commands that show data ask the API over HTTP."""
