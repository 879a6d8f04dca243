"""Suggestions in an answer, as far as it has come."""

from __future__ import annotations

import json

import pytest

from jupyter_ai_shoulders.assist.inline_completion.suggestion_schema import parse_suggestions

TEXTS = ["a\n", 'b "q"', "é😀"]
ANSWER = {"prefix_end": "= ", "suffix_start": "EMPTY", "suggestions": TEXTS}


def test_each_is_there_as_soon_as_it_is_whole_and_never_half() -> None:
    text = json.dumps(ANSWER)

    seen = [parse_suggestions(text[:end], whole=False) for end in range(len(text) + 1)]

    assert all(found == TEXTS[: len(found)] for found in seen)
    assert seen[-1] == TEXTS
    assert sorted(map(len, seen)) == [len(found) for found in seen], "none is taken back"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no object",
        "[1, 2]",
        '{"suggestions": "a"}',
        '{"suggestions": [1]}',
        '{"suggestions": ["a", null]}',
        '{"other": ["a"]}',
        '{"suggestions": ["a"',
        '{"suggestions": ["a"]} and {"more": 1}',
        '{"suggestions": {"a": "b"}}',
    ],
)
def test_what_is_not_the_object_has_none(text: str) -> None:
    assert parse_suggestions(text, whole=True) == []


def test_remarks_around_the_object_are_passed_over() -> None:
    text = f"Here it is:\n```json\n{json.dumps(ANSWER)}\n```"

    assert parse_suggestions(text, whole=True) == TEXTS


def test_more_than_five_are_not_taken() -> None:
    text = json.dumps({"suggestions": list("abcdefgh")})

    assert parse_suggestions(text, whole=True) == list("abcde")
