"""How the console shows what it shows."""

from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field
from pydantic_settings import BaseSettings, SettingsConfigDict


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError("there is no such time zone") from None
    return name


class ConsoleSettings(BaseSettings):
    """Read from the environment."""

    model_config = SettingsConfigDict(
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
        extra="ignore",
        populate_by_name=True,
    )

    time_zone: Annotated[str, AfterValidator(_zone)] = Field(
        default="Europe/Moscow",
        validation_alias="CONSOLE_TIME_ZONE",
        description="The zone of the times that people see (IANA name).",
    )
    language: Literal["ru", "en"] = Field(
        default="ru",
        validation_alias="CONSOLE_LANGUAGE",
        description="For whom neither chose one nor has a browser that asks for one.",
    )
