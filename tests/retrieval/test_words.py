"""Words of queries and texts, and what of a chunk is shown and marked."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.retrieval.snippets import LINE_CHARACTERS, MatchingWords, snippet
from jupyter_ai_shoulders.retrieval.words import hidden_words, query_terms, unfinished_word


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("fit the model", ["fit", "the", "model"]),
        ("value_counts", ["value_counts", "value", "counts"]),
        ("trainTestSplit", ["traintestsplit", "train", "test", "split"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ('a "quoted" AND (OR) x*', ["a", "quoted", "and", "or", "x"]),
        ("__", []),
        ("回归分析", ["回归分析", "回归", "归分", "分析"]),
        ("Größe", ["größe"]),
    ],
)
def test_terms_of_a_query(query: str, terms: list[str]):
    assert query_terms(query) == terms


@pytest.mark.parametrize(
    ("query", "word"),
    [("load da", "da"), ("load ", ""), ("load.", ""), ("read_cs", "read_cs"), ("", ""), ("_", "")],
)
def test_the_word_at_the_end_may_be_unfinished(query: str, word: str):
    assert unfinished_word(query) == word


def test_only_words_that_the_tokenizer_does_not_find_are_added():
    assert hidden_words("plain value_counts trainTest 回归") == "train Test 回归"


@pytest.mark.parametrize(
    ("query", "text", "marked"),
    [
        ("count", "count counts account", ["count", "counts"]),
        ("count ", "count counts account", ["count"]),
        ("value_counts ", "df.value_counts()", ["value_counts"]),
        ("valueCounts ", "df.value_counts()", ["value", "counts"]),
        ("test ", "trainTestSplit latest", ["Test"]),
        ("归分 ", "回归分析", ["归分"]),
        ("if a test ", "if a test", ["test"]),
        ("if ", "if a test", ["if"]),
        ("now ", "in İSTANBUL now", ["now"]),
        ("(", "a(b", []),
    ],
)
def test_matching_words_are_marked(query: str, text: str, marked: list[str]):
    found = snippet(text, MatchingWords(query))
    assert [found.text[start:end] for start, end in found.marks] == marked


def test_the_lines_with_the_most_matching_words_are_shown():
    text = "import x\n\nload\n\na\nb\nload data\nplot\nend"
    found = snippet(text, MatchingWords("load the data "))
    assert (found.line, found.text) == (6, "load data\nplot\nend")
    long = snippet(f"{'x ' * 500}needle{' y' * 500}", MatchingWords("needle "))
    assert long.text.startswith("…")
    assert long.text.endswith("…")
    assert len(long.text) == LINE_CHARACTERS + 2
    assert [long.text[start:end] for start, end in long.marks] == ["needle"]
    assert snippet("", MatchingWords("x")).text == ""
