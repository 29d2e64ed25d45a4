"""The HTTP client of the API that the commands share."""

import os
from typing import Annotated, Any

import httpx
import typer

_TIMEOUT_SECONDS = 60.0

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
    if response.is_success:
        return response.json()
    is_problem = "json" in response.headers.get("content-type", "")
    raise ApiRefused(response.status_code, response.json() if is_problem else {})


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
