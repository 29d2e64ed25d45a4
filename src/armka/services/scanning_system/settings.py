"""The settings of the scanning system."""

import os
from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

_MEBIBYTE = 1024 * 1024


class ScanningSettings(BaseSettings):
    """Read from the environment; empty variables count as unset."""

    model_config = SettingsConfigDict(
        env_prefix="SCANNING_",
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
        extra="ignore",
    )

    token: SecretStr | None = Field(
        default=None,
        description="What clients send as `Authorization: Bearer …`; required off the loopback.",
    )
    data_dir: Path = Field(
        default=Path("data/scanning"),
        description="Where accepted documents and their answers are kept; one process a folder.",
    )
    keep_hours: float = Field(
        default=24, gt=0, description="How long an answer is kept after the document's end."
    )
    max_data_mb: int = Field(
        default=4096,
        ge=1,
        description="Disk space that documents and answers take; the oldest answers give way.",
    )
    backlog: int = Field(
        default=100, ge=1, description="Documents not yet answered; past it, 429 and `Retry-After`."
    )
    concurrency: int = Field(
        default_factory=lambda: os.cpu_count() or 1,
        ge=1,
        description="Pages read at once, each in a child process: one for each core.",
    )
    memory_mb: int = Field(
        default=1536, ge=64, description="Memory (address space) that one page may take, MiB."
    )
    page_seconds: float = Field(
        default=60, gt=0, description="Longest time that one page may take to read."
    )
    inspect_seconds: float = Field(
        default=20, gt=0, description="Longest time to look whether a document can be read."
    )
    jobs_per_child: int = Field(
        default=200, ge=1, description="Pages after which a child process is replaced."
    )
    callback_hosts: str = Field(
        default="127.0.0.1,localhost,::1",
        description="Hosts that may be called when a document is at its end, with commas between.",
    )
    max_bytes: int = Field(
        default=100 * _MEBIBYTE, ge=1, description="Largest document that is accepted; else 413."
    )
    max_result_bytes: int = Field(
        default=16 * _MEBIBYTE, ge=1, description="Largest answer of one page."
    )
    max_pages: int = Field(default=500, ge=1, description="Most pages of a document.")
    max_pixels: int = Field(
        default=70_000_000,
        ge=1,
        description="Most pixels of a page: A3 at 600 dpi. Pages of a PDF are drawn within it.",
    )
    tessdata_dir: Path | None = Field(
        default=None,
        description="The folder of Tesseract's `rus.traineddata`; unset: looked for where systems "
        "keep it.",
    )

    @property
    def callback_host_names(self) -> frozenset[str]:
        """The hosts that may be called."""
        return frozenset(name.strip().lower() for name in self.callback_hosts.split(","))
