"""The pure rules of rendering: names, LaTeX, dates, collapsing, punctuation, Markdown."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ai_shoulders.references.styles.bibtex_names import csl_names
from jupyter_ai_shoulders.references.styles.bibtex_text import protected_text
from jupyter_ai_shoulders.references.styles.collapsing import collapse_numbers, collapse_years
from jupyter_ai_shoulders.references.styles.csl_items import csl_item
from jupyter_ai_shoulders.references.styles.markup import markdown, plain_text, safe_html
from jupyter_ai_shoulders.references.styles.style_description import (
    is_dependent,
    style_kind,
    style_locale,
    style_title,
)
from jupyter_ai_shoulders.references.styles.typography import (
    polish,
    space_after_number,
    with_year_suffix,
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Ada Lovelace", [{"family": "Lovelace", "given": "Ada"}]),
        ("Lovelace, Ada", [{"family": "Lovelace", "given": "Ada"}]),
        (
            "Ludwig van Beethoven",
            [{"family": "Beethoven", "given": "Ludwig", "non-dropping-particle": "van"}],
        ),
        (
            "de la Vall{\\'e}e Poussin, Charles",
            [{"family": "Vallée Poussin", "given": "Charles", "non-dropping-particle": "de la"}],
        ),
        ("King, Jr., Martin", [{"family": "King", "given": "Martin", "suffix": "Jr."}]),
        ("{Barnes and Noble}", [{"literal": "Barnes and Noble"}]),
        ("A, B and {\\'E}, F", [{"family": "A", "given": "B"}, {"family": "É", "given": "F"}]),
        ("Aristotle", [{"family": "Aristotle"}]),
        ("Ada Lovelace and others", [{"family": "Lovelace", "given": "Ada"}]),
        ("", []),
    ],
)
def test_names_have_their_parts(text: str, names: list[dict[str, str]]) -> None:
    assert csl_names(text) == names


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Plain", "Plain"),
        ("The {DNA} of x", 'The <span class="nocase">DNA</span> of x'),
        ("{Whole title}", "Whole title"),
        ("M{\\\"u}ller \\& {\\'E}t{\\'e}", "Müller \ue004 Été"),
        ("$\\alpha$-helix, 50\\%", "α-helix, 50%"),
        ("100% sure", "100% sure"),
        ("a --- b -- c~d", "a — b – c d"),
        ("two\n  lines", "two lines"),
        ("{un}closed {brace", '<span class="nocase">un</span>closed brace'),
    ],
)
def test_latex_becomes_text(text: str, plain: str) -> None:
    assert protected_text(text) == plain


@pytest.mark.parametrize(
    ("kind", "fields", "expected"),
    [
        ("article", {"date": "2020-05-01/2020-06"}, {"date-parts": [[2020, 5, 1], [2020, 6]]}),
        ("article", {"year": "2020", "month": "sep"}, {"date-parts": [[2020, 9]]}),
        ("article", {"year": "{in press}"}, {"literal": "in press"}),
        ("article", {}, None),
    ],
    ids=["range", "month", "literal", "none"],
)
def test_dates_are_read(kind: str, fields: dict[str, str], expected: Any) -> None:
    assert csl_item("a", kind, fields).get("issued") == expected


@pytest.mark.parametrize(
    ("texts", "joined"),
    [
        (["3", "1", "2"], "1–3"),
        (["1", "2"], "1,2"),
        (["1", "3", "4", "5", "9"], "1,3–5,9"),
        (["1", "Smith"], "1,Smith"),
    ],
)
def test_numbers_are_joined_as_ranges(texts: list[str], joined: str) -> None:
    assert collapse_numbers(texts, ",") == joined


def test_years_of_the_same_authors_are_joined() -> None:
    texts = ["Knuth, 1997", "Lovelace, 2020a", "Lovelace, 2020b", "WHO, n.d."]
    joined = "Knuth, 1997; Lovelace, 2020a, 2020b; WHO, n.d."
    assert collapse_years(texts, "; ", ", ") == joined


@pytest.mark.parametrize(
    ("html", "polished"),
    [
        ("“Title”, more", "“Title,” more"),
        ("“Title”.", "“Title.”"),
        ("“Why?”. Next", "“Why?” Next"),
        ("“Why?”, next", "“Why?”, next"),
        ("“<i>X</i>”, y", "“<i>X</i>,” y"),
        ("A <i>et al.</i>. Next", "A <i>et al.</i> Next"),
        ("the authors’, and", "the authors’, and"),
    ],
)
def test_points_move_into_quotation_marks(html: str, polished: str) -> None:
    assert polish(html, punctuation_in_quotes=True) == polished


@pytest.mark.parametrize(
    ("html", "spaced"),
    [("[1]A. B", "[1] A. B"), ("1.A", "1. A"), ("1. A", "1. A"), ("A 1", "A 1")],
)
def test_a_space_follows_the_number(html: str, spaced: str) -> None:
    assert space_after_number(html) == spaced


def test_the_letter_follows_the_first_year() -> None:
    assert with_year_suffix("(A, 2020) 2020", "2020", "b") == "(A, 2020b) 2020"


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<i>a*b</i> &amp; <sup>2</sup>", "*a\\*b* & <sup>2</sup>"),
        ("1. A", "1\\. A"),
        ("see https://x.org/a_b.", "see <https://x.org/a_b>."),
        ("&lt;b&gt;", "\\<b\\>"),
    ],
)
def test_markdown_shows_the_same(html: str, text: str) -> None:
    assert markdown(html) == text


def test_only_allowed_tags_are_left() -> None:
    evil = '<i onclick="x">a</i><script>b</script><span style="c">d</span> < <img/src=x>'
    assert safe_html(evil) == "<i>a</i>bd &lt; "


def test_superscripts_stay_visible_in_text() -> None:
    assert plain_text("<sup>1–3,5</sup>") == "¹–³,⁵"


def test_a_style_describes_itself() -> None:
    text = (
        '<style xmlns="x" default-locale="en-GB"><info><title>A &amp; B</title>'
        '<category citation-format="numeric"/></info></style>'
    )
    assert (style_title(text), style_kind(text), is_dependent(text)) == ("A & B", "numeric", False)
    assert (style_locale(text, "en-US"), style_locale(text, "de-DE")) == ("en-GB", "de-DE")
    assert is_dependent('<link href="h" rel="independent-parent"/>')
