"""The command line: a file per command group. Commands that show data are HTTP clients of the API."""
