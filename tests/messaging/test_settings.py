"""N1, N3: subjects, and credentials that come in pairs and are never shown."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from armka.contract.subjects import Transport
from armka.messaging.settings import NatsSettings

SEED, JWT = "SUA-canary-seed", "eyJ-canary-jwt"
BOTH = {"OPENBAO__NATS__NATS_SEED": SEED, "OPENBAO__NATS__NATS_JWT": JWT}


def test_without_credentials_or_with_both_it_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    """Empty variables count as unset."""
    for name in BOTH:
        monkeypatch.setenv(name, "")
    assert NatsSettings().seed is None
    for name, value in BOTH.items():
        monkeypatch.setenv(name, value)
    settings = NatsSettings()
    assert settings.seed is not None
    assert settings.seed.get_secret_value() == SEED


@pytest.mark.parametrize("given", list(BOTH))
def test_one_of_the_two_alone_is_refused_by_the_name_of_the_missing_one(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    """Neither secret is in the error, however it is printed."""
    (missing,) = BOTH.keys() - {given}
    for name, value in BOTH.items():
        monkeypatch.setenv(name, value if name == given else "")
    with pytest.raises(ValidationError) as refusal:
        NatsSettings()
    assert f"{missing} is missing" in str(refusal.value)
    shown = f"{refusal.value} {refusal.value!r} {refusal.value.errors(include_input=False)}"
    assert "canary" not in shown


def test_no_secret_is_shown_by_the_settings() -> None:
    """`repr`, `str` and JSON hide both."""
    settings = NatsSettings.model_validate(BOTH)
    assert "canary" not in f"{settings} {settings!r} {settings.model_dump_json()}"


def test_subjects_are_the_transports_unless_overridden() -> None:
    """N1: each by its own variable."""
    usual = NatsSettings.model_validate({}).subjects
    assert usual.tabular_request == "files.tabular_uploaded"
    assert usual.image_request == "files.img_uploaded"
    assert usual.result == "files.tabular_parsed"
    own = NatsSettings.model_validate({"NATS_SUBJECT_IMAGE_REQUEST": "bank.images"}).subjects
    assert (own.image_request, own.result) == ("bank.images", "files.tabular_parsed")
    assert NatsSettings.model_validate({}).transport is Transport.CORE


@pytest.mark.parametrize(
    "subject",
    ["files.*", "files.>", "files uploaded", "files..uploaded", ".files", "files.", "$JS.API.x",
     "_INBOX.x", "files.\nx", "files.\u00a0x"],
)  # fmt: skip
def test_a_subject_that_nobody_can_publish_to_is_refused(subject: str) -> None:
    """At the start, by the variable's name."""
    with pytest.raises(ValidationError, match="NATS_SUBJECT_RESULT"):
        NatsSettings.model_validate({"NATS_SUBJECT_RESULT": subject})


def test_two_uses_of_one_subject_are_refused() -> None:
    """A core would take its own requests for results."""
    with pytest.raises(ValidationError, match=r"the subject files.tabular_parsed has 2 uses"):
        NatsSettings.model_validate({"NATS_SUBJECT_IMAGE_REQUEST": "files.tabular_parsed"})


def test_a_client_certificate_needs_its_key(tmp_path: Path) -> None:
    """And files must be there."""
    (tmp_path / "cert.pem").touch()
    with pytest.raises(ValidationError, match="NATS_TLS_KEY_FILE is missing"):
        NatsSettings.model_validate({"NATS_TLS_CERT_FILE": str(tmp_path / "cert.pem")})
    with pytest.raises(ValidationError, match="NATS_TLS_CA_FILE"):
        NatsSettings.model_validate({"NATS_TLS_CA_FILE": str(tmp_path / "nowhere.pem")})


def test_the_password_of_the_address_is_not_shown() -> None:
    """By `repr`, which a traceback may hold."""
    assert "canary" not in repr(NatsSettings(url="nats://core:canary@nats:4222"))
