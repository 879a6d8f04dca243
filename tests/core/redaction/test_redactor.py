"""Secrets are never shown, whole or in pieces."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.core.redaction.redactor import MASK, Redactor, StreamRedactor

LIVE = "correct horse battery"
OTHER = "correct-staple/1234"
ANTHROPIC = "sk-ant-api03-" + "aB3-_" * 8


@pytest.mark.parametrize(
    "secret",
    [
        LIVE,
        "correct%20horse%20battery",
        ANTHROPIC,
        "sk-proj-abcdefghij0123456789",
        "sk-or-v1-abcdefghij0123456789",
        "sk-" + "a1" * 16,
        "AIza" + "b" * 35,
        "ghp_" + "a" * 36,
        "github_pat_" + "a" * 30,
        "gsk_" + "a" * 30,
        "hf_" + "a" * 30,
        "xoxb-1234567890-abcdefghijkl",
        "AKIAABCDEFGHIJKLMNOP",
        "shoulders-kernel.6f1e4a1c-0b7b-4c1e-9d57-0a1b2c3d4e5f.k3Jx_9-Qw7Lr2Tz8Vb4Nm6Yp",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4fw",
    ],
)
def test_secret_is_masked(secret: str) -> None:
    redactor = Redactor([LIVE])
    assert redactor.redact(f"a {secret} b") == f"a {MASK} b"
    assert redactor.redact(f'{{"key":"{secret}"}}') == f'{{"key":"{MASK}"}}'


def test_header_values_are_masked() -> None:
    assert Redactor().redact("Authorization: Bearer abcdef0123456789xyz") == (
        f"Authorization: Bearer {MASK}"
    )


@pytest.mark.parametrize(
    "text",
    [
        "from sklearn import tree",
        '<div class="sk-container-id-1 sk-estimator-doc-link fitted">',
        "task-force sk-learn",
        "The bearer authentication-mechanism",
        "eyJ is how base64 of an object begins",
        "hash ab12cd34ef56ab12cd34ef56ab12cd34ef56ab12",
        "df.groupby('hf_rate').mean()",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor([LIVE]).redact(text) == text


def test_short_values_are_not_secrets() -> None:
    assert Redactor(["abc", ""]).redact("abcabc") == "abcabc"


def test_longer_secret_wins_over_its_start() -> None:
    assert Redactor(["secret-one", "secret-one-more"]).redact("secret-one-more") == MASK


def pieces_of(text: str, cuts: list[int]) -> list[str]:
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(places)]


fragments = st.lists(
    st.sampled_from(
        [LIVE, OTHER, ANTHROPIC, "correct ", "sk-", "task-", "é", " ", "a1", "\n", "ey"]
    ),
    max_size=8,
)
cutting = st.lists(st.integers(0, 300), max_size=12)


def streamed(redactor: Redactor, text: str, cuts: list[int]) -> str:
    stream = StreamRedactor(lambda: redactor)
    shown = [stream.push(piece) for piece in pieces_of(text, cuts)]
    return "".join([*shown, stream.finish()])


@given(fragments=fragments, cuts=cutting)
def test_pieces_joined_are_the_redacted_whole(fragments: list[str], cuts: list[int]) -> None:
    redactor, text = Redactor([LIVE, OTHER]), ", ".join(fragments)
    assert streamed(redactor, text, cuts) == redactor.redact(text)


@given(fragments=fragments, cuts=cutting)
def test_live_keys_are_masked_whatever_they_touch(fragments: list[str], cuts: list[int]) -> None:
    shown = streamed(Redactor([LIVE, OTHER]), "".join(fragments), cuts)
    assert not any(secret in shown for secret in (LIVE, OTHER))


@pytest.mark.parametrize("size", range(1, len(LIVE)))
def test_start_of_a_live_key_is_held_back(size: int) -> None:
    stream = StreamRedactor(lambda: Redactor([LIVE]))
    assert stream.push(f"say {LIVE[:size]}") == "say "
    assert stream.push(f"{LIVE[size:]}.") == f"{MASK}."


def test_ordinary_pieces_are_shown_at_once() -> None:
    stream = StreamRedactor(lambda: Redactor([LIVE]))
    pieces = ["The ", "cell ", "fails ", "because x ", "is missing. "]
    assert [stream.push(piece) for piece in pieces] == pieces


def test_a_key_is_found_among_thousands_of_places_where_one_could_begin() -> None:
    text = "a task-based look; " * 5_000
    assert (
        Redactor([LIVE]).redact(f"{text}{LIVE} {text}{ANTHROPIC}") == f"{text}{MASK} {text}{MASK}"
    )


def test_a_key_that_becomes_known_during_a_stream_is_masked_from_then_on() -> None:
    known = [Redactor()]
    stream = StreamRedactor(lambda: known[-1])
    shown = stream.push(f"{LIVE} is ")
    known.append(Redactor([LIVE]))
    shown += stream.push(f"new: {LIVE} ") + stream.finish()
    assert shown == f"{LIVE} is new: {MASK} "
