"""Who may come in, and how long they may stay."""

from pydantic import AnyHttpUrl, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from armka.core.identity.browser import is_loopback, is_secure


class IdentitySettings(BaseSettings):
    """Sign-in, sessions and the identity provider (OpenID Connect)."""

    model_config = SettingsConfigDict(
        env_ignore_empty=True,
        frozen=True,
        hide_input_in_errors=True,
        extra="ignore",
        populate_by_name=True,
    )

    api_token: SecretStr | None = Field(
        default=None,
        validation_alias="API_TOKEN",
        description="A bearer token that may do everything. Unset on a loopback address, and "
        "without the next two, the API asks nobody who they are.",
    )
    sign_in_required: bool = Field(
        default=False,
        validation_alias="SIGN_IN_REQUIRED",
        description="True: nobody comes in unknown, also from this machine.",
    )
    oidc_issuer: str | None = Field(
        default=None,
        validation_alias="OIDC_ISSUER",
        description="The identity provider, exactly as it calls itself in its tokens.",
    )
    oidc_client_id: str = Field(
        default="arm-ka",
        validation_alias="OIDC_CLIENT_ID",
        description="What the provider calls arm-ka: the audience of its ID tokens.",
    )
    oidc_client_secret: SecretStr | None = Field(
        default=None,
        validation_alias="OIDC_CLIENT_SECRET",
        description="Of a confidential client; PKCE is used either way.",
    )
    oidc_audience: str = Field(
        default="arm-ka",
        validation_alias="OIDC_AUDIENCE",
        description="The audience of access tokens that the API takes.",
    )
    oidc_parties: str = Field(
        default="",
        validation_alias="OIDC_PARTIES",
        description="The clients (`azp`) whose access tokens the API takes, with commas between; "
        "unset, OIDC_CLIENT_ID alone.",
    )
    oidc_roles_claim: str = Field(
        default="roles",
        validation_alias="OIDC_ROLES_CLAIM",
        description="Where a token tells the roles, with dots between the steps; Keycloak: "
        "`realm_access.roles`.",
    )
    oidc_scopes: str = Field(
        default="openid profile",
        validation_alias="OIDC_SCOPES",
        description="What is asked of the provider.",
    )
    oidc_algorithms: str = Field(
        default="RS256,PS256,ES256",
        validation_alias="OIDC_ALGORITHMS",
        pattern=r"^(RS|PS|ES)(256|384|512)(,(RS|PS|ES)(256|384|512))*$",
        description="The signatures that are believed; none that is made with a shared secret.",
    )
    public_url: AnyHttpUrl | None = Field(
        default=None,
        validation_alias="PUBLIC_URL",
        description="Where people open the console: scheme, host and port. Needed with "
        "OIDC_ISSUER, and behind a proxy that changes them.",
    )
    session_hours: float = Field(
        default=12,
        gt=0,
        le=168,
        validation_alias="SESSION_HOURS",
        description="A sign-in ends after so long.",
    )
    session_idle_minutes: float = Field(
        default=60,
        gt=0,
        le=1440,
        validation_alias="SESSION_IDLE_MINUTES",
        description="And after so long without a request.",
    )
    sign_in_failures: int = Field(
        default=5,
        ge=1,
        le=100,
        validation_alias="SIGN_IN_FAILURES",
        description="So many wrong passwords in a row lock a name for a minute, each further one "
        "for twice as long, up to 15 minutes; six times as many from one address lock the address.",
    )

    @model_validator(mode="after")
    def _provider_is_whole(self) -> "IdentitySettings":
        if self.oidc_issuer is not None and self.public_url is None:
            raise ValueError("PUBLIC_URL is missing: OIDC_ISSUER sends people back to it")
        issuer = AnyHttpUrl(self.oidc_issuer) if self.oidc_issuer else None
        if issuer and not is_secure(str(issuer)) and not is_loopback(issuer.host or ""):
            raise ValueError("OIDC_ISSUER: what it says must travel over https")
        return self

    @property
    def is_open(self) -> bool:
        """Whether who sends no credential may do everything (loopback only)."""
        return not (self.api_token or self.sign_in_required or self.oidc_issuer)

    @property
    def origin(self) -> str | None:
        """The origin of PUBLIC_URL, as browsers write it."""
        if self.public_url is None or self.public_url.host is None:
            return None
        url, usual = self.public_url, {"http": 80, "https": 443}
        port = "" if url.port in {None, usual[url.scheme]} else f":{url.port}"
        return f"{url.scheme}://{url.host}{port}"
