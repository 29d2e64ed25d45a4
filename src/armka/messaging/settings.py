"""How to reach NATS (§3, N1-N4)."""

import re
import ssl
from collections import Counter
from typing import Annotated

from pydantic import AfterValidator, Field, FilePath, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from armka.contract.subjects import DEFAULTS, Subjects, Transport

# What a message can be sent to: tokens of printable characters between dots, no wildcard; and
# nothing of the server's own or of somebody's inbox.
_SUBJECT = re.compile(r"[^\s.*>$_\x00-\x1f\x7f][^\s.*>\x00-\x1f\x7f]*(\.[^\s.*>\x00-\x1f\x7f]+)*")
_PREFIX = re.compile(r"[^\s.*>\x00-\x1f\x7f]+(\.[^\s.*>\x00-\x1f\x7f]+)*")


def _subject(value: str) -> str:
    if not _SUBJECT.fullmatch(value):
        msg = (
            "is no subject to publish on: words between single dots, without spaces and wildcards, "
            "not beginning with $ or _"
        )
        raise ValueError(msg)
    return value


def _prefix(value: str) -> str:
    if not _PREFIX.fullmatch(value):
        msg = "is no prefix of subjects: words between single dots, without spaces and wildcards"
        raise ValueError(msg)
    return value


Subject = Annotated[str, AfterValidator(_subject)]
Prefix = Annotated[str, AfterValidator(_prefix)]


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
        repr=False,  # it may hold a password
        validation_alias="NATS_URL",
        description="Servers, separated by commas; `tls://` demands TLS.",
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
    subject_tabular_request: Subject | None = Field(
        default=None,
        validation_alias="NATS_SUBJECT_TABULAR_REQUEST",
        description="Overrides the subject.",
    )
    subject_image_request: Subject | None = Field(
        default=None,
        validation_alias="NATS_SUBJECT_IMAGE_REQUEST",
        description="Overrides the subject.",
    )
    subject_result: Subject | None = Field(
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
    inbox_prefix: Prefix | None = Field(
        default=None,
        validation_alias="NATS_INBOX_PREFIX",
        description="Where answers come to. Unset: `_INBOX.` and the role, such as `_INBOX.core`.",
    )
    tls_ca_file: FilePath | None = Field(
        default=None,
        validation_alias="NATS_TLS_CA_FILE",
        description="Whose server certificates are trusted, PEM. Unset: those of the system.",
    )
    tls_cert_file: FilePath | None = Field(
        default=None,
        validation_alias="NATS_TLS_CERT_FILE",
        description="Client certificate, PEM; goes with its key.",
    )
    tls_key_file: FilePath | None = Field(
        default=None,
        validation_alias="NATS_TLS_KEY_FILE",
        description="Key of the client certificate, PEM.",
    )
    tls_first: bool = Field(
        default=False,
        validation_alias="NATS_TLS_FIRST",
        description="TLS before the server's greeting (its `handshake_first`).",
    )

    @model_validator(mode="after")
    def _credentials_come_in_pairs(self) -> "NatsSettings":
        if (self.seed is None) != (self.jwt is None):
            missing = "OPENBAO__NATS__NATS_SEED" if self.seed is None else "OPENBAO__NATS__NATS_JWT"
            msg = f"{missing} is missing: set both the nkey seed and the JWT, or neither"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _certificate_comes_with_its_key(self) -> "NatsSettings":
        if (self.tls_cert_file is None) != (self.tls_key_file is None):
            missing = "NATS_TLS_CERT_FILE" if self.tls_cert_file is None else "NATS_TLS_KEY_FILE"
            msg = f"{missing} is missing: a client certificate needs its key"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _subjects_differ(self) -> "NatsSettings":
        subjects = self.subjects
        used = Counter([subjects.tabular_request, subjects.image_request, subjects.result])
        for subject, count in used.items():
            if count > 1:
                msg = f"the subject {subject} has {count} uses: give each NATS_SUBJECT_* its own"
                raise ValueError(msg)
        return self

    @property
    def demands_tls(self) -> bool:
        """Whether nothing may be said without TLS."""
        schemes = {url.strip().partition("://")[0] for url in self.url.split(",")}
        return (
            bool(schemes & {"tls", "wss"})
            or self.tls_first
            or self.tls_ca_file is not None
            or self.tls_cert_file is not None
        )

    def tls_context(self) -> ssl.SSLContext:
        """What TLS is spoken with; the files are read now. Raises OSError."""
        context = ssl.create_default_context(cafile=self.tls_ca_file)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        if self.tls_cert_file is not None:
            context.load_cert_chain(self.tls_cert_file, self.tls_key_file)
        return context

    @property
    def transport(self) -> Transport:
        """The transport in force (§3)."""
        if self.chosen_transport is not None:
            return self.chosen_transport
        return Transport.JETSTREAM if self.manage_stream else Transport.CORE

    @property
    def subjects(self) -> Subjects:
        """The subjects in force (N1)."""
        return self.subjects_of(self.transport)

    def subjects_of(self, transport: Transport) -> Subjects:
        """The subjects that would be in force on a transport."""
        usual = DEFAULTS[transport]
        return Subjects(
            tabular_request=self.subject_tabular_request or usual.tabular_request,
            image_request=self.subject_image_request or usual.image_request,
            result=self.subject_result or usual.result,
        )
