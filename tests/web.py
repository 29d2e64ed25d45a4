"""HTTP clients of the tests. Every server they speak to is on the loopback, without TLS."""

import ssl
from typing import Any

import httpx

# Loading the machine's certificates, which nothing here is asked for, takes longer than a request.
_TRUSTS_NOBODY = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def client(base_url: str = "", **options: Any) -> httpx.AsyncClient:
    """A client that takes no proxy from the environment."""
    return httpx.AsyncClient(base_url=base_url, trust_env=False, verify=_TRUSTS_NOBODY, **options)
