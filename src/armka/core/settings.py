"""The core's settings: one frozen tree, read once, in assembly. Each ground room brings its own
part.
"""

from dataclasses import dataclass
from typing import TypeVar

from pydantic import Field, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from armka.core.console.settings import ConsoleSettings
from armka.core.database.settings import DatabaseSettings
from armka.core.errors import SettingsInvalid
from armka.core.identity.settings import IdentitySettings
from armka.messaging.settings import NatsSettings
from armka.objects.settings import ObjectSettings
from armka.secrets.settings import OpenBaoSettings


class ExchangeSettings(BaseSettings):
    """The loops (§4-§7) and the HTTP side."""

    model_config = SettingsConfigDict(
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
        extra="ignore",
        populate_by_name=True,
    )

    debug: bool = Field(default=False, validation_alias="DEBUG", description="More to the log.")
    nats_enabled: bool = Field(
        default=True,
        validation_alias="NATS_ENABLED",
        description="False: no background loop runs (N2).",
    )
    outbox_poll_seconds: float = Field(
        default=5,
        gt=0,
        le=60,
        validation_alias="OUTBOX_POLL_SECONDS",
        description="The outbox looks at least so often.",
    )
    outbox_batch_size: int = Field(
        default=1000,
        ge=1,
        le=5000,
        validation_alias="OUTBOX_BATCH_SIZE",
        description="Jobs published in one burst.",
    )
    ack_timeout_seconds: float = Field(
        default=30,
        gt=0,
        validation_alias="ACK_TIMEOUT_SECONDS",
        description="Without `processing` for so long, publish again.",
    )
    outbox_max_republish: int = Field(
        default=3,
        ge=0,
        validation_alias="OUTBOX_MAX_REPUBLISH",
        description="Publish again so often, then `dlq`/`NO_ACK`.",
    )
    reply_timeout_seconds_tabular: float = Field(
        default=600,
        gt=0,
        validation_alias="REPLY_TIMEOUT_SECONDS_TABULAR",
        description="A tabular service's time.",
    )
    reply_timeout_seconds_image: float = Field(
        default=1800,
        gt=0,
        validation_alias="REPLY_TIMEOUT_SECONDS_IMAGE",
        description="An image service's time.",
    )
    watchdog_period_seconds: float = Field(
        default=30,
        gt=0,
        validation_alias="WATCHDOG_PERIOD_SECONDS",
        description="The watchdog looks at least so often.",
    )
    mapping_poll_seconds: float = Field(
        default=5,
        gt=0,
        validation_alias="MAPPING_POLL_SECONDS",
        description="The mapping cycle looks at least so often.",
    )
    result_max_bytes: int = Field(
        default=48 * 1024 * 1024,
        gt=0,
        validation_alias="RESULT_MAX_BYTES",
        description="A larger result file is invalid.",
    )
    drain_seconds: float = Field(
        default=20,
        gt=0,
        validation_alias="DRAIN_SECONDS",
        description="SIGTERM: the loops may take so long to end.",
    )
    readiness_grace_seconds: float = Field(
        default=0,
        ge=0,
        validation_alias="READINESS_GRACE_SECONDS",
        description="SIGTERM: for so long all but `/readyz` is served: a balancer looks away.",
    )
    upload_max_bytes: int = Field(
        default=100 * 1024 * 1024,
        gt=0,
        validation_alias="UPLOAD_MAX_BYTES",
        description="A larger upload is refused.",
    )
    sweep_grace_seconds: float = Field(
        default=7 * 86400,
        gt=0,
        validation_alias="SWEEP_GRACE_SECONDS",
        description="An uploaded object that no file knows is removed at this age.",
    )
    doctor_period_seconds: float = Field(
        default=300,
        gt=0,
        validation_alias="DOCTOR_PERIOD_SECONDS",
        description="The core looks so often for what has drifted.",
    )


Part = TypeVar("Part", bound=BaseSettings)


@dataclass(frozen=True)
class Settings:
    """Everything a core process is told."""

    exchange: ExchangeSettings
    database: DatabaseSettings
    nats: NatsSettings
    objects: ObjectSettings
    openbao: OpenBaoSettings
    identity: IdentitySettings
    console: ConsoleSettings


def read_settings() -> Settings:
    """Read the environment; raises SettingsInvalid with every problem found, by variable, without
    any value.
    """
    problems: list[str] = []
    exchange = _read(ExchangeSettings, problems)
    database = _read(DatabaseSettings, problems)
    nats = _read(NatsSettings, problems)
    objects = _read(ObjectSettings, problems)
    openbao = _read(OpenBaoSettings, problems)
    identity = _read(IdentitySettings, problems)
    console = _read(ConsoleSettings, problems)
    if problems or not (
        exchange and database and nats and objects and openbao and identity and console
    ):
        raise SettingsInvalid(problems)
    return Settings(exchange, database, nats, objects, openbao, identity, console)


def _read(part: type[Part], problems: list[str]) -> Part | None:
    try:
        return part()
    except ValidationError as error:
        for fact in error.errors(include_input=False, include_url=False, include_context=False):
            where = ".".join(str(piece) for piece in fact["loc"])
            what = fact["msg"].removeprefix("Value error, ")
            problems.append(f"{where}: {what}" if where else what)
        return None
