"""Sealed state comes back as it went, or not at all."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.proxy.sealed_state import PREFIX, StateSealer
from jupyter_ai_shoulders.wire.parts import ProviderState, ReasoningPart

STATE = ProviderState(
    provider="anthropic", model="m", data={"block": {"type": "thinking", "signature": "s=="}}
)
BOX = StateSealer(b"secret")


def test_state_and_text_come_back() -> None:
    assert BOX.open(BOX.seal(STATE, "Hm 日 🙂")) == ReasoningPart(text="Hm 日 🙂", state=STATE)


def test_another_start_with_the_same_secret_opens_it() -> None:
    assert StateSealer(b"secret").open(BOX.seal(STATE)) is not None


@pytest.mark.parametrize(
    "sealed",
    [
        "",
        "EqQBCg==",
        PREFIX,
        f"{PREFIX}????",
        f"{PREFIX}AAAA",
        f"{PREFIX}ü",
        StateSealer(b"other").seal(STATE),
        BOX.seal(STATE)[:-4] + "AAAA",
    ],
    ids=["empty", "a vendor's", "nothing", "no base64", "short", "not ascii", "foreign", "altered"],
)
def test_what_is_not_ours_is_not_opened(sealed: str) -> None:
    assert BOX.open(sealed) is None


def test_a_repeated_text_costs_little() -> None:
    text = "The same thought in other words, number "
    long = "".join(f"{text}{number}. " for number in range(500))
    state = STATE.model_copy(update={"data": {"block": {"thinking": long}}})
    assert len(BOX.seal(state, long)) < len(long) / 2
