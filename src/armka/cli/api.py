"""The HTTP client of the API that the commands share."""

import asyncio
import os
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import httpx
import typer

_TIMEOUT_SECONDS = 60.0
# What may be said again: the core is restarting, its servers are away, the answer was lost.
_PAUSES_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
_MOMENTARY = frozenset({409, 429, 502, 503, 504})

Url = Annotated[
    str, typer.Option("--url", envvar="ARMKA_URL", help="Where the core listens.", show_envvar=True)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]

DEFAULT_URL = "http://127.0.0.1:8080"


class ApiRefused(Exception):
    """The API said no; `detail` is for a person."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        self.kind = str(problem.get("type", "")).removeprefix("urn:arm-ka:problem:")
        self.code = problem.get("code")
        self.detail = str(problem.get("detail", f"HTTP {status}"))
        super().__init__(self.detail)


def headers() -> dict[str, str]:
    """What every request carries: the token, where `API_TOKEN` gives one."""
    token = os.environ.get("API_TOKEN")
    return {"Authorization": f"Bearer {token}"} if token else {}


def client(url: str) -> httpx.AsyncClient:
    """A client for the API at `url`; proxies of the environment are not asked."""
    return httpx.AsyncClient(
        base_url=url, headers=headers(), timeout=_TIMEOUT_SECONDS, trust_env=False
    )


async def call(http: httpx.AsyncClient, method: str, path: str, **options: Any) -> Any:
    """Call the API and return its JSON; raises ApiRefused."""
    response = await http.request(method, f"/api/v1{path}", **options)
    return _answer(response)


async def call_once(http: httpx.AsyncClient, method: str, path: str, **options: Any) -> Any:
    """Call what has an effect, again and again until it is known to have had it, once.

    The key makes a repeat harmless, so that an unknown outcome (a timeout, a broken connection, a
    restart) costs time only. Raises ApiRefused, httpx.HTTPError when it takes too long.
    """
    headers = options.pop("headers", {}) | {"Idempotency-Key": str(uuid4())}
    for pause in _PAUSES_SECONDS:
        try:
            response = await http.request(method, f"/api/v1{path}", headers=headers, **options)
        except httpx.ConnectError:
            raise
        except httpx.TransportError:
            await asyncio.sleep(pause)
            continue
        if not _is_momentary(response):
            return _answer(response)
        await asyncio.sleep(_pause(response, pause))
    return await call(http, method, path, headers=headers, **options)


async def save(http: httpx.AsyncClient, path: str, target: Path) -> None:
    """Download into a file that was not there; raises ApiRefused, FileExistsError."""
    async with http.stream("GET", f"/api/v1{path}") as response:
        if not response.is_success:
            await response.aread()
            raise _refused(response)
        with target.open("xb") as file:
            async for chunk in response.aiter_bytes():
                file.write(chunk)


def _is_momentary(response: httpx.Response) -> bool:
    return response.status_code in _MOMENTARY and "retry-after" in response.headers


def _pause(response: httpx.Response, pause: float) -> float:
    asked = response.headers["retry-after"]
    return max(pause, float(asked)) if asked.isdecimal() else pause


def _answer(response: httpx.Response) -> Any:
    if response.is_success:
        return response.json()
    raise _refused(response)


def _refused(response: httpx.Response) -> ApiRefused:
    is_problem = "json" in response.headers.get("content-type", "")
    return ApiRefused(response.status_code, response.json() if is_problem else {})


def explain(error: ApiRefused | httpx.HTTPError, url: str) -> typer.Exit:
    """Tell a person why a command failed; the exit code goes with it."""
    if isinstance(error, ApiRefused):
        typer.echo(f"armka: {error.detail}", err=True)
    else:
        typer.echo(
            f"armka: no core answers at {url} ({type(error).__name__}): is `armka core` running?",
            err=True,
        )
    return typer.Exit(1)
