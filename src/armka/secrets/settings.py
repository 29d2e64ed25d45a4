"""How to reach OpenBao, and as whom; without BAO_ADDR it is not used."""

from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, FilePath, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class OpenBaoSettings(BaseSettings):
    """Read from the environment; empty variables count as unset."""

    model_config = SettingsConfigDict(
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
        extra="ignore",
        populate_by_name=True,
    )

    address: str | None = Field(
        default=None,
        pattern=r"^https?://[^/@\s]+/?$",
        validation_alias="BAO_ADDR",
        description="OpenBao, such as `https://bao.bank:8200`. Unset: OpenBao is not used.",
    )
    secret_path: str = Field(
        default="",
        pattern=r"^[\w./-]*$",
        validation_alias="BAO_SECRET_PATH",
        description="The secrets read are `secrets` and `supersecrets` below it.",
    )
    mount_point: str = Field(
        default="kv",
        pattern=r"^[\w./-]+$",
        validation_alias="BAO_MOUNT_POINT",
        description="Where KV version 2 is mounted.",
    )
    namespace: str | None = Field(
        default=None, validation_alias="BAO_NAMESPACE", description="OpenBao's namespace."
    )
    token: SecretStr | None = Field(
        default=None,
        validation_alias="BAO_TOKEN",
        description="A token of the operator's; renewed as far as it can be.",
    )
    approle_role_id: str | None = Field(
        default=None, validation_alias="BAO_APPROLE_ROLE_ID", description="Login by AppRole."
    )
    approle_secret_id: SecretStr | None = Field(
        default=None, validation_alias="BAO_APPROLE_SECRET_ID", description="Its secret id."
    )
    approle_secret_id_file: Path | None = Field(
        default=None,
        validation_alias="BAO_APPROLE_SECRET_ID_FILE",
        description="Or the file that holds it, read at each login.",
    )
    approle_mount: str = Field(
        default="approle",
        pattern=r"^[\w./-]+$",
        validation_alias="BAO_APPROLE_MOUNT",
        description="Where AppRole is mounted, below `auth/`.",
    )
    kubernetes_role: str | None = Field(
        default=None,
        validation_alias="BAO_KUBERNETES_ROLE",
        description="Login by the pod's service account, as this role.",
    )
    kubernetes_token_file: Path = Field(
        default=Path("/var/run/secrets/kubernetes.io/serviceaccount/token"),
        validation_alias="BAO_KUBERNETES_TOKEN_FILE",
        description="The service account's token, read at each login.",
    )
    kubernetes_mount: str = Field(
        default="kubernetes",
        pattern=r"^[\w./-]+$",
        validation_alias="BAO_KUBERNETES_MOUNT",
        description="Where Kubernetes login is mounted, below `auth/`.",
    )
    ca_file: FilePath | None = Field(
        default=None,
        validation_alias="BAO_CACERT",
        description="Whose certificates are trusted, PEM. Unset: those of the system.",
    )
    timeout_seconds: float = Field(
        default=5,
        gt=0,
        le=30,
        validation_alias="BAO_TIMEOUT",
        description="OpenBao has so many seconds for an answer.",
    )
    refresh_seconds: float = Field(
        default=30,
        gt=0,
        le=300,
        validation_alias="BAO_REFRESH_SECONDS",
        description="The fields are read again so often: new credentials are in use by then.",
    )

    @model_validator(mode="after")
    def _names_one_way_in(self) -> "OpenBaoSettings":
        if self.address is None:
            return self
        if not self.secret_path.strip("/"):
            msg = "BAO_SECRET_PATH is missing: BAO_ADDR says where OpenBao is, not which secret"
            raise ValueError(msg)
        ways = [
            name
            for name, value in (
                ("BAO_TOKEN", self.token),
                ("BAO_APPROLE_ROLE_ID", self.approle_role_id),
                ("BAO_KUBERNETES_ROLE", self.kubernetes_role),
            )
            if value is not None
        ]
        if len(ways) != 1:
            msg = "set one of BAO_TOKEN, BAO_APPROLE_ROLE_ID and BAO_KUBERNETES_ROLE, " + (
                f"not {' and '.join(ways)}" if ways else "to log in to BAO_ADDR"
            )
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _approle_has_its_secret_id(self) -> "OpenBaoSettings":
        given = (self.approle_secret_id is not None) + (self.approle_secret_id_file is not None)
        if self.approle_role_id is not None and given != 1:
            msg = "set one of BAO_APPROLE_SECRET_ID and BAO_APPROLE_SECRET_ID_FILE for the AppRole"
            raise ValueError(msg)
        if self.approle_role_id is None and given:
            msg = "BAO_APPROLE_ROLE_ID is missing: a secret id goes with its role id"
            raise ValueError(msg)
        return self

    @model_validator(mode="after")
    def _speaks_tls_off_this_machine(self) -> "OpenBaoSettings":
        if self.address is None:
            return self
        where = urlsplit(self.address)
        if where.scheme == "http" and where.hostname not in {"localhost", "127.0.0.1", "::1"}:
            msg = "BAO_ADDR must be https:// where OpenBao is on another machine"
            raise ValueError(msg)
        return self
