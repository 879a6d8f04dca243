"""Orders suggestions: what does not parse where it would stand comes last. Pure.

Called by ``ghost.engine`` once all are there. Only Python can be judged here.
"""

from __future__ import annotations

import ast
import codeop
import warnings
from collections.abc import Sequence

from jupyter_ai_shoulders.notebook.analysis.magics import plain_cell

MAX_PARSED_LENGTH = 6_000
"""Characters of a text that is parsed for each suggestion; the model's order stays for more."""

_ERRORS = (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError)


def rank_suggestions(
    suggestions: Sequence[str], prefix: str, suffix: str, language: str
) -> list[str]:
    """Return the suggestions, best first: the model's order, those that cannot be code last."""
    long = len(prefix) + len(suffix) > MAX_PARSED_LENGTH
    if len(suggestions) < 2 or language != "python" or long:
        return list(suggestions)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sorted(suggestions, key=lambda text: _syntax_penalty(prefix + text, suffix))


def _syntax_penalty(before: str, after: str) -> int:
    """Return 0 for code, 1 for the beginning of some, 2 for what cannot become any."""
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
