"""Half a credential is refused at the start, by the name of the missing half."""

import pytest
from pydantic import ValidationError

from armka.objects.settings import ObjectSettings

PAIR = {"S3_ACCESS_KEY_ID": "canary-id", "S3_SECRET_ACCESS_KEY": "canary-key"}


@pytest.mark.parametrize("given", list(PAIR))
def test_one_of_the_two_keys_alone_is_refused(given: str) -> None:
    """Without a value in the error."""
    (missing,) = PAIR.keys() - {given}
    with pytest.raises(ValidationError) as refusal:
        ObjectSettings.model_validate({given: PAIR[given]})
    assert f"{missing} is missing" in str(refusal.value)
    assert "canary" not in str(refusal.value)


def test_both_or_neither_are_fine_and_hidden() -> None:
    """Nor may they be in the address."""
    assert ObjectSettings.model_validate({}).bucket
    assert "canary" not in repr(ObjectSettings.model_validate(PAIR))
    with pytest.raises(ValidationError, match="S3_ENDPOINT_URL") as refusal:
        ObjectSettings.model_validate({"S3_ENDPOINT_URL": "http://me:canary@s3"})
    assert "canary" not in str(refusal.value)
