"""One signed S3 request (AWS Signature Version 4): all that the stack asks of its own S3."""

import hashlib
import hmac
import http.client
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote

_ALGORITHM = "AWS4-HMAC-SHA256"


@dataclass(frozen=True)
class S3Keys:
    """The pair that signs requests; the secret half never appears in `repr`."""

    access_key_id: str
    secret_access_key: str
    region: str = "us-east-1"

    def __repr__(self) -> str:
        return f"S3Keys({self.access_key_id!r})"


def request(
    port: int, keys: S3Keys, method: str, path: str, body: bytes = b"", *, timeout: float = 1.0
) -> tuple[int, bytes]:
    """Send `method path` to the S3 on loopback and return (status, body).

    `path` is absolute and not yet quoted; `timeout` in seconds bounds each read and write.
    OSError or HTTPException where nobody answers.
    """
    quoted = quote(path)
    host = f"127.0.0.1:{port}"
    headers = _signed_headers(keys, method, quoted, host, body, datetime.now(UTC))
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        connection.request(method, quoted, body=body, headers=headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def _signed_headers(
    keys: S3Keys, method: str, quoted_path: str, host: str, body: bytes, now: datetime
) -> dict[str, str]:
    stamp, digest = now.strftime("%Y%m%dT%H%M%SZ"), hashlib.sha256(body).hexdigest()
    signed = {"host": host, "x-amz-content-sha256": digest, "x-amz-date": stamp}
    names = ";".join(signed)
    lines = "".join(f"{name}:{value}\n" for name, value in signed.items())
    canonical = f"{method}\n{quoted_path}\n\n{lines}\n{names}\n{digest}"
    scope = f"{stamp[:8]}/{keys.region}/s3/aws4_request"
    text = f"{_ALGORITHM}\n{stamp}\n{scope}\n{hashlib.sha256(canonical.encode()).hexdigest()}"
    key = ("AWS4" + keys.secret_access_key).encode()
    for part in (*scope.split("/"), text):
        key = hmac.digest(key, part.encode(), "sha256")
    credential = f"Credential={keys.access_key_id}/{scope}"
    authorization = f"{_ALGORITHM} {credential}, SignedHeaders={names}, Signature={key.hex()}"
    return signed | {"authorization": authorization}
