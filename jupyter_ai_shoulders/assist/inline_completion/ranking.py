"""Ranks suggestions: those that do not parse at the caret come last. Pure; used by ``service``.

Only Python is parsed.
"""

from __future__ import annotations

import ast
import codeop
import warnings
from collections.abc import Sequence

from jupyter_ai_shoulders.notebook.analysis.magics import plain_cell

MAX_PARSED_LENGTH = 6_000
"""Characters of a text that is parsed for each suggestion; longer texts keep the model's order."""

_ERRORS = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)


def rank_suggestions(
    suggestions: Sequence[str], prefix: str, suffix: str, language: str
) -> list[str]:
    """Return the suggestions in the model's order, with those that cannot be code last."""
    long = len(prefix) + len(suffix) > MAX_PARSED_LENGTH
    if len(suggestions) < 2 or language != "python" or long:
        return list(suggestions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(suggestions, key=lambda text: _syntax_penalty(prefix + text, suffix))


def _syntax_penalty(before: str, after: str) -> int:
    """Return 0 for valid code, 1 for incomplete code, 2 for a syntax error."""
    if _parses(before + after):
        return 0
    try:
        codeop.compile_command(plain_cell(before).code, symbol="exec")
    except _ERRORS:
        return 2
    return 1


def _parses(source: str) -> bool:
    try:
        ast.parse(plain_cell(source).code)
    except _ERRORS:
        return False
    return True
