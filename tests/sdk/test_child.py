"""The parts of a child process that need no process."""

import functools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from armka.sdk.child import find_handler, without_nul
from armka.sdk.children import whereabouts
from armka.sdk.wording import MESSAGE_CHARACTERS, presentable
from tests.sdk.trial_handlers import trial

TEXTS = st.text(alphabet=["\0", "\\", "u", "0", '"', "a", "ы", "\n"])


@given(st.recursive(TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_nul_and_nothing_else_is_taken_out_of_json(value):
    encoded = json.dumps(value, ensure_ascii=False).encode()

    assert json.loads(without_nul(encoded)) == cleaned(value)


def cleaned(value):
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, list):
        return [cleaned(it) for it in value]
    return {cleaned(key): cleaned(it) for key, it in value.items()}


@given(st.text(alphabet=st.characters(exclude_categories=())) | st.text(min_size=1000))
def test_a_message_is_made_fit_for_an_envelope(message):
    fit = presentable(message)

    assert len(fit) <= MESSAGE_CHARACTERS
    assert "\0" not in fit
    fit.encode()


def test_a_handler_is_found_again_by_its_name():
    assert find_handler(*whereabouts(trial)).__qualname__ == "trial"


def test_a_handler_that_no_child_could_import_is_refused():
    def inner(source):
        return trial(source)

    handlers: list[Any] = [inner, lambda _: None, functools.partial(trial)]
    for handler in handlers:
        with pytest.raises(ValueError, match="top of a module"):
            whereabouts(handler)
