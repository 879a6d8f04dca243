"""Citations in documents: found, told apart by syntax, written and joined."""

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.references.citation_syntax import (
    citation_text,
    detect_syntax,
    find_citations,
    insert_citation,
)
from jupyter_ai_shoulders.wire.api.references import CitationSyntax

FOUND: dict[str, tuple[str, list[tuple[CitationSyntax, tuple[str, ...]]]]] = {
    "myst role": ("See {cite}`a2020`.", [("myst", ("a2020",))]),
    "myst role with several keys": ("{cite:p}`a, b,c`", [("myst", ("a", "b", "c"))]),
    "myst role with notes": ("{cite:p}`{see}a{p. 3}`", [("myst", ("a",))]),
    "pandoc": ("As said [see @a2020, p. 3; @b:x/y].", [("pandoc", ("a2020", "b:x/y"))]),
    "pandoc without the author": ("X [-@a].", [("pandoc", ("a",))]),
    "pandoc in braces": ("X [@{https://x.org/a(b)}].", [("pandoc", ("https://x.org/a(b)",))]),
    "pandoc narrative": ("@a2020 says.", [("pandoc", ("a2020",))]),
    "latex": (r"\cite{a} \citep[see][p.~3]{b,c}", [("latex", ("a",)), ("latex", ("b", "c"))]),
    "biblatex": (r"\autocite{a} \Textcite*{b}", [("latex", ("a",)), ("latex", ("b",))]),
    "nocite of all": (r"\nocite{*}", []),
    "an address": ("Write to ada@example.org", []),
    "a handle in an address": ("https://x.social/@ada", []),
    "an escaped at": (r"\@ada", []),
    "a link": ("[@ada](https://x.org)", [("pandoc", ("ada",))]),
    "a cross-reference of Quarto": ("See @fig-plot and [@tbl-one].", []),
    "a code span": ("`@a` and ``[@b] ` ``", []),
    "a fence": ("```python\n@decorator\n```\n[@a]", [("pandoc", ("a",))]),
    "a tilde fence": ("~~~\n[@b]\n```\n[@c]\n~~~\n[@a]", [("pandoc", ("a",))]),
    "a directive with text": (
        "```{note}\n{cite}`a`\n```\n[@b]\n",
        [("myst", ("a",)), ("pandoc", ("b",))],
    ),
    "a directive with code": ("```{code-cell}\n@a\n```", []),
    "a colon fence": (":::{note}\n[@a]\n:::", [("pandoc", ("a",))]),
    "indented code": ("Text\n\n    [@b]\n\n[@a]", [("pandoc", ("a",))]),
    "a list item's paragraph": ("- item\n\n    [@a]", [("pandoc", ("a",))]),
    "an HTML comment": ("<!-- [@b] -->[@a]", [("pandoc", ("a",))]),
    "front matter": ("---\nauthor: '@ada'\n---\n[@a]", [("pandoc", ("a",))]),
    "an unclosed code span": ("a ` b [@a]", [("pandoc", ("a",))]),
}


@pytest.mark.parametrize(("text", "expected"), FOUND.values(), ids=FOUND)
def test_citations_are_found_outside_code(
    text: str, expected: list[tuple[CitationSyntax, tuple[str, ...]]]
) -> None:
    found = find_citations(text)
    assert [(citation.syntax, citation.keys) for citation in found] == expected
    for citation in found:
        assert all(key in text[citation.start : citation.end] for key in citation.keys)


def test_latex_files_hold_latex_citations_only() -> None:
    text = "% \\cite{no}\n50\\% [@no] \\cite{a}\n"
    text += "\\begin{verbatim}\\cite{no}\\end{verbatim}\\verb|\\cite{n}|"
    assert [c.keys for c in find_citations(text, latex=True)] == [("a",)]


SYNTAX = {
    "none": ("Nothing here.", None),
    "a handle": ("Thanks to @ada.", None),
    "narrative": ("@ada2020 says.", "pandoc"),
    "myst": ("{cite:t}`a`", "myst"),
    "most": ("[@a] {cite}`b` [@c]", "pandoc"),
    "latex": (r"\citet{a}", "latex"),
}


@pytest.mark.parametrize(("text", "expected"), SYNTAX.values(), ids=SYNTAX)
def test_the_syntax_is_that_of_most_citations(text: str, expected: str | None) -> None:
    assert detect_syntax(text) == expected


@pytest.mark.parametrize(
    ("syntax", "expected"),
    [("myst", "{cite}`a,b`"), ("pandoc", "[@a; @b]"), ("latex", r"\cite{a,b}")],
)
def test_a_citation_is_written(syntax: CitationSyntax, expected: str) -> None:
    assert citation_text(["a", "b"], syntax) == expected


@pytest.mark.parametrize("key", ["", "a b", "a,b", "a`b", "a}b", "a\\b", "a%b"])
def test_a_key_that_would_end_the_citation_is_refused(key: str) -> None:
    with pytest.raises(InvalidRequest):
        citation_text([key], "myst")


INSERTED = {
    "at the end": ("A fact", None, "A fact {cite}`k`"),
    "before the full stop": ("A fact.\n", None, "A fact {cite}`k`.\n"),
    "in an empty document": ("", None, "{cite}`k`"),
    "after a heading": ("# Title", None, "# Title\n\n{cite}`k`"),
    "after code": ("```\nx\n```\n", None, "```\nx\n```\n\n{cite}`k`\n"),
    "after a text": ("One fact, another.", "One fact", "One fact {cite}`k`, another."),
    "after a part of a word": ("Results hold.", "Result", "Results {cite}`k` hold."),
    "joined, myst": ("A {cite:p}`a`.", None, "A {cite:p}`a,k`."),
    "joined, pandoc": ("A [see @a].", None, "A [see @a; @k]."),
    "joined, latex": (r"A \citep[p.~3]{a}.", None, r"A \citep[p.~3]{a,k}."),
    "joined after a text": ("A fact [@a] and.", "A fact", "A fact [@a; @k] and."),
    "joined inside": ("A fact [@a] and.", "@a", "A fact [@a; @k] and."),
    "already there": ("A fact [@k].", None, "A fact [@k]."),
    "in the syntax of the document": ("Old [@a]. New", None, "Old [@a]. New [@k]"),
    "with the role of the document": (
        "Old {cite:t}`a`. New",
        None,
        "Old {cite:t}`a`. New {cite:p}`k`",
    ),
    "with the command of the document": (
        r"Old \parencite{a}. New",
        None,
        r"Old \parencite{a}. New~\parencite{k}",
    ),
}


@pytest.mark.parametrize(("text", "after", "expected"), INSERTED.values(), ids=INSERTED)
def test_a_citation_is_inserted(text: str, after: str | None, expected: str) -> None:
    assert insert_citation(text, ["k"], after, "myst") == expected


def test_a_citation_precedes_the_end_of_a_latex_document() -> None:
    text = "\\begin{document}\nA fact.\n\\end{document}\n"
    assert insert_citation(text, ["k"], None, "myst", latex=True) == text.replace(
        "fact.", "fact~\\cite{k}."
    )


@pytest.mark.parametrize(
    ("text", "after"),
    [("A fact.", "no fact"), ("fact fact", "fact"), ("`code` text", "cod"), ("text", "")],
    ids=["missing", "twice", "in code", "empty"],
)
def test_a_place_that_is_not_clear_is_refused(text: str, after: str) -> None:
    with pytest.raises(InvalidRequest):
        insert_citation(text, ["k"], after, "myst")


@pytest.mark.parametrize(
    "text",
    ["`" * 100_000, "[@" * 50_000, "{cite}`" * 20_000, "\\cite[" * 20_000, "\\" * 100_000 + "cite"],
)
def test_hostile_texts_take_little_time(text: str) -> None:
    find_citations(text)
