"""How to reach the object store."""

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict


class ObjectSettings(BaseSettings):
    """Read from the environment; empty variables count as unset."""

    model_config = SettingsConfigDict(
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
        extra="ignore",
        populate_by_name=True,
    )

    endpoint_url: str = Field(
        default="http://127.0.0.1:8333",
        pattern=r"^https?://[^/@]+(/[^@]*)?$",  # without credentials: those have variables
        validation_alias="S3_ENDPOINT_URL",
        description="The S3 endpoint.",
    )
    bucket: str = Field(
        default="arm-ka", validation_alias="S3_BUCKET", description="The bucket, which exists."
    )
    access_key_id: SecretStr = Field(
        default=SecretStr(""), validation_alias="S3_ACCESS_KEY_ID", description="Access key id."
    )
    secret_access_key: SecretStr = Field(
        default=SecretStr(""), validation_alias="S3_SECRET_ACCESS_KEY", description="Secret key."
    )
    region: str = Field(
        default="us-east-1", validation_alias="S3_REGION", description="Region name to sign with."
    )

    @model_validator(mode="after")
    def _keys_come_in_pairs(self) -> "ObjectSettings":
        known, secret = (
            key.get_secret_value() for key in (self.access_key_id, self.secret_access_key)
        )
        if bool(known) != bool(secret):
            missing = "S3_SECRET_ACCESS_KEY" if known else "S3_ACCESS_KEY_ID"
            msg = f"{missing} is missing: set both the access key id and the secret key, or neither"
            raise ValueError(msg)
        return self
