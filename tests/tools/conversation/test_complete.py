"""``complete`` takes summaries that say something; long output is cut once, head and tail."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.tools.conversation.complete import is_meaningful
from jupyter_ai_shoulders.tools.registry import shipped_description
from jupyter_ai_shoulders.tools.truncation import BYTE_LIMIT, LINE_LIMIT, truncate

EMPTY = [
    "",
    "Done.",
    "looks good",
    "Done. Everything looks good. All tasks have been completed successfully as requested.",
    "Fixed the bug.",
    "… … … … … … … … … … … … … … … … … … … …",
]
TELLING = [
    "Cell 4 now imports numpy before its first use; the notebook runs without errors.",
    "Renamed `df` to `penguins` in cells 2 and 3, and plotted body mass by species.",
    "Zelle 4 importiert jetzt numpy, und das Notebook läuft ohne Fehler durch.",
]


@pytest.mark.parametrize("summary", EMPTY)
def test_placeholder_says_nothing(summary: str):
    assert not is_meaningful(summary)


@pytest.mark.parametrize("summary", TELLING)
def test_summary_that_names_what_was_done_says_something(summary: str):
    assert is_meaningful(summary)


def test_description_is_a_file():
    assert shipped_description("complete").startswith("End the turn")


def test_short_text_is_not_cut():
    assert truncate("a\nb\n") == "a\nb\n"
    assert truncate("é" * 100) == "é" * 100


def test_many_lines_keep_head_and_tail():
    lines = [f"line {number}" for number in range(5_000)]
    cut = truncate("\n".join(lines)).splitlines()
    assert len(cut) == LINE_LIMIT
    assert cut[1_498:1_501] == ["line 1498", "[… 3001 lines left out …]", "line 4500"]
    assert cut[-1] == "line 4999"


def test_long_lines_are_cut_by_bytes_at_characters():
    cut = truncate("é" * 100_000)
    assert len(cut.encode()) <= BYTE_LIMIT
    assert "characters left out" in cut
    assert set(cut.splitlines()[0]) == {"é"}


def test_cutting_twice_changes_nothing():
    once = truncate("\n".join("x" * 70 for _ in range(9_000)))
    assert len(once.encode()) <= BYTE_LIMIT
    assert truncate(once) == once
