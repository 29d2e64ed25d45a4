"""How to reach NATS (§3, N1-N4)."""

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from armka.contract.subjects import DEFAULTS, Subjects, Transport


class NatsSettings(BaseSettings):
    """Read from the environment; empty variables count as unset."""

    model_config = SettingsConfigDict(
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
        extra="ignore",
        populate_by_name=True,
    )

    url: str = Field(
        default="nats://127.0.0.1:4222",
        validation_alias="NATS_URL",
        description="Servers, separated by commas.",
    )
    chosen_transport: Transport | None = Field(
        default=None,
        validation_alias="NATS_TRANSPORT",
        description="`core` or `jetstream`. Unset: `jetstream` where NATS_MANAGE_STREAM is true, "
        "else `core`.",
    )
    manage_stream: bool = Field(
        default=False,
        validation_alias="NATS_MANAGE_STREAM",
        description="`jetstream`: create the stream and this process's consumer where they are "
        "missing; what exists is left as it is.",
    )
    stream_replicas: int = Field(
        default=1,
        ge=1,
        le=5,
        validation_alias="NATS_STREAM_REPLICAS",
        description="`jetstream`: copies of a stream that is created; 3 in a cluster.",
    )
    ack_wait_seconds: float = Field(
        default=30,
        ge=1,
        validation_alias="NATS_ACK_WAIT_SECONDS",
        description="`jetstream`: a consumer that is created delivers again what nobody "
        "acknowledged for so long. Whoever works on a message says so every third of it.",
    )
    subject_tabular_request: str | None = Field(
        default=None,
        validation_alias="NATS_SUBJECT_TABULAR_REQUEST",
        description="Overrides the subject.",
    )
    subject_image_request: str | None = Field(
        default=None,
        validation_alias="NATS_SUBJECT_IMAGE_REQUEST",
        description="Overrides the subject.",
    )
    subject_result: str | None = Field(
        default=None, validation_alias="NATS_SUBJECT_RESULT", description="Overrides the subject."
    )
    seed: SecretStr | None = Field(
        default=None,
        validation_alias="OPENBAO__NATS__NATS_SEED",
        description="nkey seed; goes with the JWT.",
    )
    jwt: SecretStr | None = Field(
        default=None,
        validation_alias="OPENBAO__NATS__NATS_JWT",
        description="User JWT; goes with the seed.",
    )

    @model_validator(mode="after")
    def _credentials_come_in_pairs(self) -> "NatsSettings":
        if (self.seed is None) != (self.jwt is None):
            missing = "OPENBAO__NATS__NATS_SEED" if self.seed is None else "OPENBAO__NATS__NATS_JWT"
            msg = f"{missing} is missing: set both the nkey seed and the JWT, or neither"
            raise ValueError(msg)
        return self

    @property
    def transport(self) -> Transport:
        """The transport in force (§3)."""
        if self.chosen_transport is not None:
            return self.chosen_transport
        return Transport.JETSTREAM if self.manage_stream else Transport.CORE

    @property
    def subjects(self) -> Subjects:
        """The subjects in force (N1)."""
        usual = DEFAULTS[self.transport]
        return Subjects(
            tabular_request=self.subject_tabular_request or usual.tabular_request,
            image_request=self.subject_image_request or usual.image_request,
            result=self.subject_result or usual.result,
        )
