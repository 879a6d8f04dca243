"""What can stand at the caret of what a model wrote."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_ai_shoulders.assist.inline_completion.trimming import MAX_LENGTH, trim_suggestion


@pytest.mark.parametrize(
    ("raw", "prefix", "suffix", "expected"),
    [
        ("sum(x)", "y = ", "", "sum(x)"),
        ("y = sum(x)", "y = ", "", "sum(x)"),
        ("y = sum(x)", "y =", "", " sum(x)"),
        ("    return x", "def f(x):\n    ", "", "return x"),
        ("groupby('a')", "df.gro", "", "upby('a')"),
        ("upby('a')", "df.gro", "", "upby('a')"),
        ("items:", "for i in i", "", "items:"),
        ("import os\nimport re\nx = 1", "import os\nimport re\n", "", "x = 1"),
        ("x)", "print(", ")", "x"),
        ("x)  \n", "print(", ")", "x"),
        ("f(x)", "print(", ")", "f(x)"),
        ("f(x))", "print(", ")", "f(x)"),
        ("a'", "name = '", "'", "a"),
        ("y = 1\nreturn y", "def f():\n    ", "\nreturn y", "y = 1"),
        ("y = 1\n    return y", "def f():\n    ", "\n    return y\n", "y = 1"),
        ("end", "the ", " end of it", "end"),
        ("```python\nsum(x)\n```", "y = ", "", "sum(x)"),
        ("one\r\ntwo", "", "", "one\ntwo"),
        ("sum(x)  \n\n", "y = ", "", "sum(x)"),
        ("", "y = ", "", None),
        ("  \n", "y = ", "", None),
        ("y = ", "y = ", "", None),
        ("a […] b", "y = ", "", None),
        ("a\x00b", "y = ", "", None),
        ("a\u202eb", "y = ", "", None),
        ("a\u200bb", "y = ", "", None),
        ("a\u00adb", "y = ", "", None),
        ("\u3164 = 1", "y = ", "", None),
        ("a\u2800b", "y = ", "", None),
        ("a\u2028b", "y = ", "", None),
        ("a\U000e0100b", "y = ", "", None),
        ("is\u200dAdmin", "y = ", "", None),
        ("\u200ca", "y = ", "", None),
        ("'میخواهم'", "y = ", "", "'میخواهم'"),
        ("'می\u200cخواهم'", "y = ", "", "'می\u200cخواهم'"),
        ("'👩\u200d💻 ❤\ufe0f'", "y = ", "", "'👩\u200d💻 ❤\ufe0f'"),
        ("x" * (MAX_LENGTH + 1), "y = ", "", None),
    ],
)
def test_what_stands_there_already_or_is_unseen_is_taken_off(
    raw: str, prefix: str, suffix: str, expected: str | None
) -> None:
    assert trim_suggestion(raw, prefix, suffix) == expected


TEXTS = st.text(st.sampled_from("ab (){}'\n.=é"), max_size=30)


@given(raw=TEXTS, prefix=TEXTS, suffix=TEXTS)
def test_what_is_left_is_a_part_of_what_was_written(raw: str, prefix: str, suffix: str) -> None:
    text = trim_suggestion(raw, prefix, suffix)

    assert text is None or (text in raw and text.strip() and text == text.rstrip())


def test_a_long_word_before_the_caret_does_not_hold_up_the_server() -> None:
    blob = "ab12" * 50_000  # looking for its end from each of its characters takes minutes

    assert trim_suggestion("key.lower()", f'key = "{blob}"\ny = ke', "") == "y.lower()"
