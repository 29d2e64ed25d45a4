"""OpenBao's settings: one way in, named where it is missing; no secret is shown."""

import pytest
from pydantic import ValidationError

from armka.secrets.settings import OpenBaoSettings

WHERE = {"BAO_ADDR": "https://bao:8200", "BAO_SECRET_PATH": "arm-ka/core"}
ROLE = {"BAO_APPROLE_ROLE_ID": "role", "BAO_APPROLE_SECRET_ID": "canary"}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (WHERE, "set one of BAO_TOKEN"),
        (WHERE | ROLE | {"BAO_TOKEN": "canary"}, "not BAO_TOKEN and BAO_APPROLE_ROLE_ID"),
        (WHERE | {"BAO_APPROLE_ROLE_ID": "role"}, "BAO_APPROLE_SECRET_ID"),
        (WHERE | {"BAO_TOKEN": "t", "BAO_APPROLE_SECRET_ID": "canary"}, "BAO_APPROLE_ROLE_ID is"),
        (WHERE | {"BAO_TOKEN": "t", "BAO_SECRET_PATH": ""}, "BAO_SECRET_PATH is missing"),
        (WHERE | {"BAO_TOKEN": "t", "BAO_ADDR": "http://bao:8200"}, "must be https://"),
        (WHERE | {"BAO_TOKEN": "t", "BAO_ADDR": "https://me:canary@bao"}, "BAO_ADDR"),
    ],
)
def test_what_does_not_fit_together_is_refused(given: dict[str, str], said: str) -> None:
    """By the names of the variables, without a value."""
    with pytest.raises(ValidationError) as refusal:
        OpenBaoSettings.model_validate(given)
    assert said in str(refusal.value)
    assert "canary" not in f"{refusal.value}"


def test_without_an_address_nothing_is_asked_of_it() -> None:
    """And with one way in all is well; `repr` and JSON hide the secrets."""
    assert OpenBaoSettings.model_validate({}).address is None
    settings = OpenBaoSettings.model_validate(WHERE | ROLE)
    assert "canary" not in f"{settings!r} {settings.model_dump_json()}"
