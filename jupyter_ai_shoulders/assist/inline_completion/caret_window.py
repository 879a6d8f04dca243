"""Cuts the text around the caret to a limit, between words. Pure; used by ``prompt``."""

from __future__ import annotations

from dataclasses import dataclass

MAX_PREFIX_LENGTH = 5_000
"""Characters before the caret that are sent, including the omission mark."""
MAX_SUFFIX_LENGTH = 1_000
"""Characters after the caret that are sent."""
OMISSION_MARK = "[…]"


@dataclass(frozen=True, slots=True)
class CaretWindow:
    """The text around a caret; ``above`` and ``below`` hold the parts beyond the limits."""

    prefix: str
    suffix: str
    above: str = ""
    below: str = ""

    @property
    def shown_prefix(self) -> str:
        """The prefix, with a mark where it was cut."""
        return OMISSION_MARK + self.prefix if self.above else self.prefix

    @property
    def shown_suffix(self) -> str:
        """The suffix, with a mark where it was cut."""
        return self.suffix + OMISSION_MARK if self.below else self.suffix


def cut_window(prefix: str, suffix: str) -> CaretWindow:
    """Return the window of text around the caret."""
    start = _start(prefix, MAX_PREFIX_LENGTH - len(OMISSION_MARK))
    end = _end(suffix, MAX_SUFFIX_LENGTH - len(OMISSION_MARK))
    return CaretWindow(prefix[start:], suffix[:end], prefix[:start], suffix[end:])


def _start(text: str, limit: int) -> int:
    """Return where the last ``limit`` characters begin, at whitespace if there is any."""
    if len(text) <= limit + len(OMISSION_MARK):
        return 0
    cut = len(text) - limit
    if text[cut - 1].isspace():
        return cut
    blank = next((at for at in range(cut, len(text)) if text[at].isspace()), None)
    return cut if blank is None else blank


def _end(text: str, limit: int) -> int:
    """Return where the first ``limit`` characters end, at whitespace if there is any among them."""
    if len(text) <= limit + len(OMISSION_MARK):
        return len(text)
    if text[limit].isspace():
        return limit
    blank = next((at for at in range(limit, 0, -1) if text[at - 1].isspace()), None)
    return limit if blank is None else blank
