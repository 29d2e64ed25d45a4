"""How to reach PostgreSQL."""

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class DatabaseSettings(BaseSettings):
    """Read from the environment; the URL is a secret, since it holds a password."""

    model_config = SettingsConfigDict(
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
        extra="ignore",
        populate_by_name=True,
    )

    url: SecretStr = Field(
        validation_alias="DATABASE_URL", description="postgresql://user:password@host:port/database"
    )
    pool_size: int = Field(
        default=16,
        ge=4,
        le=200,
        validation_alias="DATABASE_POOL_SIZE",
        description="Connections at most.",
    )
