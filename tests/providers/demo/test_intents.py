"""Tests of recognising the kind of a request."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.providers.demo.intents import (
    Kind,
    RequestPart,
    kind_of_request,
    parts_of,
)

KINDS: dict[str, Kind] = {
    "Please fix the error": "fix",
    "NameError: name 'x' is not defined": "fix",
    "Why does this cell fail?": "explain",
    "What does this traceback mean?": "explain",
    "Plot alcohol against ash": "plot",
    "Profile the data": "profile",
    "How many rows are there?": "profile",
    "Which columns have missing values?": "profile",
    "Describe the dataframe": "profile",
    "what's in my table?": "profile",
    "Describe this notebook": "outline",
    "Give me an overview": "outline",
    "Write a todo list": "checklist",
    "What is left to do?": "checklist",
    "Hello": "greet",
    "Plot `errors`": "plot",
    "Plot mean_squared_error against epoch": "plot",
    "Translate this": "outside",
    "修正这个": "outside",
    "": "outside",
}


@pytest.mark.parametrize("said", KINDS)
def test_kind_follows_the_words(said: str) -> None:
    assert kind_of_request(said) == KINDS[said]


PARTS = {
    "Outline the notebook, then fix the error and plot ash": [
        RequestPart("outline", "Outline the notebook"),
        RequestPart("fix", "fix the error"),
        RequestPart("plot", "plot ash"),
    ],
    "1. profile the data\n2. plot ash in blue": [
        RequestPart("profile", "1. profile the data"),
        RequestPart("plot", "plot ash in blue"),
    ],
    "Outline the notebook, fix the error": [
        RequestPart("outline", "Outline the notebook"),
        RequestPart("fix", "fix the error"),
    ],
    "Plot ash and draw alcohol": [
        RequestPart("plot", "Plot ash"),
        RequestPart("plot", "draw alcohol"),
    ],
}
WHOLE: dict[str, Kind] = {
    "Why does this cell fail? Please fix it and run it again.": "fix",
    "Plot flavanoids against colour and ash": "plot",
    "Plot `fix and profile; then outline`": "plot",
    "Hello! Please outline the notebook.": "outline",
    "plot the distribution and histogram of ash": "plot",
    "Translate it and sing": "outside",
}


@pytest.mark.parametrize("said", PARTS)
def test_request_with_several_parts_is_taken_apart(said: str) -> None:
    assert parts_of(said) == PARTS[said]


@pytest.mark.parametrize("said", WHOLE)
def test_request_for_one_thing_stays_whole(said: str) -> None:
    assert parts_of(said) == [RequestPart(WHOLE[said], said)]


@given(st.text(alphabet='abplotfixthenand .;\n,!?`"', max_size=80))
def test_any_words_have_a_part(said: str) -> None:
    parts = parts_of(said)
    assert parts
    assert len(parts) == 1 or all(part.kind not in {"greet", "outside"} for part in parts)
