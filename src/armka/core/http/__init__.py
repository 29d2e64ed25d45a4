"""The HTTP API: a file per resource; `problems` is the one place that turns errors into responses (RFC 9457)."""
