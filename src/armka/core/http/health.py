"""Probes: `/livez`, `/readyz`, `/healthcheck`. Each answers within a second, whatever hangs."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from armka.core.http.problems import OTHERS

_PATIENCE_SECONDS = 0.8

Check = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class LoopHealth:
    """How a background loop is."""

    name: str
    is_alive: bool
    is_ok: bool
    seconds_since_cycle: float


class Vitals(Protocol):
    """What a process knows of itself without asking anybody."""

    def health(self) -> dict[str, Any]:
        """The body of `/healthcheck`."""

    def is_draining(self) -> bool:
        """Whether it is about to end."""

    def nats_is_live(self) -> bool:
        """Whether it has its NATS connection, or is to do without."""

    def nats_trouble(self) -> str:
        """Why it has none, without secrets."""

    def loops(self) -> Sequence[LoopHealth]:
        """Its loops."""

    def duplicates(self) -> int:
        """How many requests the stream had already when this process published them."""


class Readiness:
    """Asks the servers. A check that hangs is not begun a second time, so probes do not pile up."""

    def __init__(self, checks: Mapping[str, Check], vitals: Vitals) -> None:
        self._checks = checks
        self._vitals = vitals
        self._running: dict[str, asyncio.Task[None]] = {}

    async def findings(self) -> dict[str, str]:
        """What is wrong, by component; nothing where all is well."""
        running = {name: self._begin(name, check) for name, check in self._checks.items()}
        await asyncio.wait(running.values(), timeout=_PATIENCE_SECONDS)
        found: dict[str, str | None] = {name: _finding(task) for name, task in running.items()}
        if not self._vitals.nats_is_live():
            found["nats"] = f"not connected: {self._vitals.nats_trouble()}"
        for loop in self._vitals.loops():
            if not loop.is_alive:
                found[f"loop {loop.name}"] = "stuck or ended"
        if self._vitals.is_draining():
            found["process"] = "draining"
        return {name: fault for name, fault in found.items() if fault is not None}

    def components(self) -> list[str]:
        """The names of all that is looked at."""
        loops = [f"loop {loop.name}" for loop in self._vitals.loops()]
        return ["process", "nats", *self._checks, *loops]

    def _begin(self, name: str, check: Check) -> asyncio.Task[None]:
        task = self._running.get(name)
        if task is None or task.done():
            task = self._running[name] = asyncio.create_task(
                _run(check), name=f"readiness of {name}"
            )
        return task


async def _run(check: Check) -> None:
    await check()


def _finding(task: "asyncio.Task[None]") -> str | None:
    if not task.done():
        return f"no answer within {_PATIENCE_SECONDS} s"
    error = task.exception()
    return None if error is None else type(error).__name__


_NOT_READY: dict[int | str, dict[str, Any]] = {
    503: {"description": "Send it no requests now.", "content": {"application/json": {}}},
    **OTHERS,
}


def router(vitals: Vitals, readiness: Readiness) -> APIRouter:
    """The probes."""
    api = APIRouter(tags=["health"])

    @api.get("/healthcheck")
    async def healthcheck() -> dict[str, Any]:
        """Say that the process runs, and how its loops are, without asking any server."""
        return vitals.health()

    @api.get("/livez")
    async def livez() -> dict[str, str]:
        """Say that the process answers: restart it where it does not. Asks no server."""
        return {"status": "ok"}

    @api.get("/readyz", responses=_NOT_READY)
    async def readyz(verbose: str | None = None) -> JSONResponse:
        """Say whether requests should come here: database, NATS, object store and loops are well.

        With `verbose` each is named.
        """
        faults = await readiness.findings()
        body: dict[str, Any] = {"status": "not ready" if faults else "ready"}
        if verbose is not None:
            body["checks"] = {name: faults.get(name, "ok") for name in readiness.components()}
        return JSONResponse(body, status_code=503 if faults else 200)

    return api
