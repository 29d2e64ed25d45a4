"""The HTTP API: a file per resource; `problems` alone turns errors into responses (RFC 9457)."""
