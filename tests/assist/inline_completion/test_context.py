"""What a suggestion request contains of the rest of a document."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.assist.inline_completion.context import (
    BUDGET,
    ContextCell,
    OutlineCache,
    select_context,
)
from jupyter_ai_shoulders.assist.inline_completion.outline import build_outline


def told(
    before: list[ContextCell], after: list[ContextCell], around: str, language: str = "python"
) -> str:
    pieces = select_context(before, after, around, language, OutlineCache())
    return "\n---\n".join(f"{piece.name}: {piece.text}" for piece in pieces)


def cells(*sources: str) -> list[ContextCell]:
    return [ContextCell(f"c{number}", source) for number, source in enumerate(sources, 1)]


SPACERS = ("pass", "pass")
"""Filler cells: what is before them is shortened."""


def test_a_definition_is_told_only_when_it_is_spoken_of() -> None:
    before = cells("def used():\n    pass\n\ndef unused():\n    pass", *SPACERS)

    found = told(before, [], "x = used(")

    assert "c1: def used():\n    pass" in found
    assert "unused" not in found


def test_the_latest_definition_wins() -> None:
    found = told(cells("rate = 1", "rate = 2", *SPACERS), [], "x = rate")

    assert "rate = 2" in found
    assert "rate = 1" not in found


def test_what_stands_after_the_caret_is_told_too_but_less() -> None:
    found = told(cells("a = 1"), cells("print(a)", "print('far away')"), "")

    assert found == "c1: a = 1\n---\nc1: print(a)"


def test_the_budget_holds_and_the_nearest_comes_first() -> None:
    big = [f"name_{number} = '{'x' * 250}'" for number in range(200)]
    around = " ".join(f"name_{number}" for number in range(200))

    found = told(cells(*big), [], around)

    assert len(found) < BUDGET * 1.2
    assert "name_199 =" in found
    assert "name_3 =" not in found


def test_headings_come_from_markdown_above_and_not_from_comments() -> None:
    before = [ContextCell("c1", "## Load\ntext", is_code=False), *cells("# a comment", *SPACERS)]

    found = told(before, [ContextCell("c9", "# Below", is_code=False)], "")

    assert "c1: ## Load" in found
    assert "c1: # a comment" not in found


def test_a_piece_says_whether_it_is_code() -> None:
    before = [ContextCell("c1", "## Load", is_code=False), *cells("a = 1")]

    pieces = select_context(before, [], "", "python", OutlineCache())

    assert [(piece.text, piece.is_code) for piece in pieces] == [
        ("## Load", False),
        ("a = 1", True),
    ]


R = "clean <- function(x) {\n  x\n}\ny = 2\nlibrary(dplyr)"


@pytest.mark.parametrize(
    ("language", "source", "defined", "imported"),
    [
        (
            "python",
            "import os as o\nx, (y, *z) = f()\nclass A: pass",
            {*"xyzA"},
            ["import os as o"],
        ),
        ("python", "@cache\nasync def f(): ...\na: int = 1", {"f", "a"}, []),
        ("python", "%time x = 1\n!ls", {"x"}, []),
        ("python", "def half(", {"half"}, []),
        ("r", R, {"clean", "y"}, ["library(dplyr)"]),
        ("javascript", "export const a = 1;\nfunction f() {}\nif (a == 1) {}", {"a", "f"}, []),
        ("julia", "using CSV\nfunction g(x)\nend", {"g"}, ["using CSV"]),
    ],
)
def test_definitions_and_imports_are_found_in_each_language(
    language: str, source: str, defined: set[str], imported: list[str]
) -> None:
    found = build_outline(source, language)

    assert set(found.definitions) == defined
    assert list(found.imports) == imported


@pytest.mark.parametrize(
    "rest", ["y = (", "z\x00", "(" * 5_000], ids=["half", "NUL", "nested too deep"]
)
def test_what_does_not_parse_is_read_line_by_line_and_that_is_logged(
    rest: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")

    found = build_outline(f"import os\nx = 1\n{rest}", "python")

    assert found.imports == ("import os",)
    assert "x" in found.definitions
    assert "line by line" in caplog.text


def test_long_definitions_are_shortened() -> None:
    body = "\n".join(f"    step_{number}()" for number in range(100))

    text = build_outline(f"def f():\n{body}", "python").definitions["f"]

    assert text.startswith("def f():\n    step_0()")
    assert text.endswith("…")
    assert "step_50" not in text
