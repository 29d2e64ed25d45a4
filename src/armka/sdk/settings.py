"""The limits of a service, and what its child processes may see of the environment."""

import os
import sys

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict

_MEBIBYTE = 1024 * 1024

# Everything else stays with the service: a handler reads hostile files and needs no secret.
_CHILD_MAY_SEE = frozenset(
    {"HOME", "LANG", "LANGUAGE", "LD_LIBRARY_PATH", "PATH", "TESSDATA_PREFIX", "TMPDIR", "TZ"}
)


class ServiceSettings(BaseSettings):
    """Read from the environment; empty variables count as unset."""

    model_config = SettingsConfigDict(
        env_prefix="SERVICE_", env_ignore_empty=True, frozen=True, extra="ignore"
    )

    concurrency: int = Field(
        default=2,
        ge=1,
        description="Files recognised at once, each in a child process: one for each core.",
    )
    backlog: int = Field(
        default=1000,
        ge=1,
        description="Jobs taken on and not yet answered. At the limit no more requests are taken.",
    )
    remembered_jobs: int = Field(
        default=50_000, ge=1, description="Jobs remembered after they were answered, at most."
    )
    memory_mb: int = Field(
        default=1024, ge=16, description="Memory (address space) that one file may take, MiB."
    )
    time_limit_seconds: float = Field(
        default=120, gt=0, description="Longest time that one file may take to recognise."
    )
    max_source_bytes: int = Field(
        default=100 * _MEBIBYTE, ge=1, description="Largest source file that is fetched."
    )
    max_result_bytes: int = Field(
        default=48 * _MEBIBYTE, ge=1, description="Largest result file that is stored."
    )
    jobs_per_child: int = Field(
        default=100, ge=1, description="Files after which a child process is replaced."
    )
    drain_seconds: float = Field(
        default=25, ge=0, description="Time to finish the work in hand after SIGTERM."
    )
    repeat_seconds: float = Field(
        default=10, gt=0, description="Wait before an unanswered result is sent again; it doubles."
    )


def child_environment(handler_sees: frozenset[str]) -> dict[str, str]:
    """The environment of a child process: no secret, and the import path of this process."""
    may_see = _CHILD_MAY_SEE | handler_sees
    seen = {k: v for k, v in os.environ.items() if k in may_see or k.startswith("LC_")}
    path = os.pathsep.join(entry or os.curdir for entry in sys.path)
    # A second malloc arena would count against the memory limit with space that nobody uses.
    return seen | {"PYTHONPATH": path, "PYTHONUTF8": "1", "MALLOC_ARENA_MAX": "1"}
