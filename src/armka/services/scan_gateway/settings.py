"""Where ИС Сканирование is, how it is asked, and when what it read is believed."""

from pathlib import Path

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

_MEBIBYTE = 1024 * 1024
_READING = "SCAN_GATEWAY_"


class ScanningClientSettings(BaseSettings):
    """Read from the environment; empty variables count as unset."""

    model_config = SettingsConfigDict(
        env_prefix="SCANNING_",
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
        extra="ignore",
    )

    url: str = Field(
        default="http://127.0.0.1:8090",
        pattern=r"^https?://[^/]+",
        description="Where ИС Сканирование is.",
    )
    token: SecretStr = Field(default=SecretStr(""), description="Bearer token for it.")
    ca_file: Path | None = Field(
        default=None, description="PEM file of the authority that its certificate is checked by."
    )


class GatewaySettings(BaseSettings):
    """Read from the environment; empty variables count as unset."""

    model_config = SettingsConfigDict(
        env_prefix="SCAN_GATEWAY_", env_ignore_empty=True, frozen=True, extra="ignore"
    )

    concurrency: int = Field(
        default=8, ge=1, description="Files that ИС Сканирование is given at once."
    )
    poll_seconds: float = Field(
        default=25, ge=0, le=30, description="Longest wait of one question about a file's state."
    )
    callback_port: int | None = Field(
        default=None,
        ge=0,
        le=65535,
        description="Port that ИС Сканирование calls, 0: a free one; unset: it is polled.",
    )
    callback_host: str = Field(default="127.0.0.1", description="Address that they are taken on.")
    callback_url: str | None = Field(
        default=None,
        pattern=r"^https?://[^/]+",
        description="Where ИС Сканирование reaches this instance; unset: at that address and port.",
    )
    callback_wait_seconds: float = Field(
        default=30, gt=0, description="Longest wait for a call before ИС Сканирование is asked."
    )
    failures_to_pause: int = Field(
        default=5, ge=1, description="Failures in a row after which ИС Сканирование is left alone."
    )
    longest_pause_seconds: float = Field(
        default=30, gt=0, description="Longest time between two trials whether it is back."
    )
    max_answer_bytes: int = Field(
        default=64 * _MEBIBYTE, ge=1, description="Largest answer that is taken and stored."
    )


class ReadingSettings(BaseSettings):
    """How the answer is read; a child process sees these."""

    model_config = SettingsConfigDict(
        env_prefix=_READING, env_ignore_empty=True, frozen=True, extra="ignore"
    )

    min_confidence: float = Field(
        default=0.7,
        ge=0,
        le=1,
        description="An amount that was read with less confidence is unknown, with a proposal.",
    )
    min_dpi: float = Field(
        default=200, ge=0, description="A page scanned with less goes to an analyst."
    )
    max_pages: int = Field(default=500, ge=1, description="Most pages that one file may have.")
    max_page_pixels: int = Field(
        default=200_000_000, ge=1, description="Most pixels that one page may have."
    )

    @classmethod
    def variables(cls) -> frozenset[str]:
        """The variables that they are read from."""
        return frozenset(_READING + name.upper() for name in cls.model_fields)
