"""Trims a model's text to what fits at the caret: no repeated text, no invisible characters. Pure.

Used by ``service`` for each suggestion as it arrives.
"""

from __future__ import annotations

import re

MAX_LENGTH = 4_000
"""Characters; a longer suggestion is discarded."""
MAX_REPEAT_LENGTH = 1_000
"""Characters compared with the other side of the caret."""
SHORTEST_REPEAT = 4
"""Repeated characters that count as a repetition even inside a word."""

_FENCED = re.compile(r"\A\s*```[^\n`]*\n(.*?)\n?```\s*\Z", re.DOTALL)
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b"
    "\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
    "|(?:^|(?<=[\x00-\x7f]))[\u200c\u200d]"
)
"""Control characters, direction marks, fillers and other invisible characters: those that the page
spells out (``labextension/src/text/hiddenCharacters.ts``), because JupyterLab's completer does not.
Joiners are kept in scripts and emoji; after ASCII they join nothing.
"""
_WORD = re.compile(r"\w+")
_OPENERS = {")": "(", "]": "[", "}": "{"}
_CLOSING = re.compile(r"[\s)\]}\"'`,;:]*\Z")


def trim_suggestion(raw: str, prefix: str, suffix: str) -> str | None:
    """Return the text to insert at the caret; None where nothing usable remains."""
    text = raw.replace("\r\n", "\n").replace("\r", "\n")
    fenced = _FENCED.match(text)
    text = fenced[1] if fenced else text
    if len(text) > MAX_LENGTH or _UNSEEN.search(text) or "[…]" in text:
        return None
    text = without_prefix(text, prefix)
    text = without_suffix(text.rstrip(), suffix).rstrip()
    return text or None


def without_prefix(text: str, prefix: str) -> str:
    """Return the text without a repetition of the end of the prefix."""
    line = prefix.rpartition("\n")[2]
    said = line.strip()
    if len(said) > 1 and text.lstrip().startswith(said):
        return text.lstrip()[len(said) :] if line == line.rstrip() else _rest(text, said)
    for length in range(min(len(text), len(prefix), MAX_REPEAT_LENGTH), 0, -1):
        if prefix.endswith(text[:length]) and _is_repeat(prefix, length):
            return text[length:]
    blank = line[len(line.rstrip()) :]
    return text[len(blank) :] if blank and text.startswith(blank) else text


def _rest(text: str, said: str) -> str:
    """Return the text after the repeated line, without the blank already before the caret."""
    return text.lstrip()[len(said) :].removeprefix(" ")


def _is_repeat(prefix: str, length: int) -> bool:
    """Return whether a repetition of this length is no coincidence: whole words, or long enough."""
    at = len(prefix) - length
    begins = at == 0 or not (prefix[at].isalnum() and prefix[at - 1].isalnum())
    ends_a_word = at > 0 and _WORD.match(prefix, at - 1, at) is not None
    whole_word = length > 1 and not ends_a_word and _WORD.fullmatch(prefix, at) is not None
    return whole_word or (begins and length >= SHORTEST_REPEAT and bool(prefix[at:].strip()))


def without_suffix(text: str, suffix: str) -> str:
    """Return the text without a repetition of the beginning of the suffix."""
    for given in (suffix, suffix.lstrip()):
        for length in range(min(len(text), len(given), MAX_REPEAT_LENGTH), 0, -1):
            repeat = given[:length]
            if repeat.strip() and text.endswith(repeat) and _is_surplus(text, repeat, given):
                return text[:-length]
    return text


def _is_surplus(text: str, repeat: str, suffix: str) -> bool:
    """Return whether the end of the text repeats the suffix and does not belong to the text."""
    if _CLOSING.match(repeat):
        return _unbalanced(text)
    line = suffix.partition("\n")[0]
    return len(repeat) >= SHORTEST_REPEAT or repeat.strip() == line.strip()


def _unbalanced(text: str) -> bool:
    """Return whether the text closes a bracket or a quote that it does not open."""
    open_now: list[str] = []
    for sign in text:
        if sign in "([{":
            open_now.append(sign)
        elif sign in _OPENERS and (not open_now or open_now.pop() != _OPENERS[sign]):
            return True
    ends_line = text.endswith((",", ";", ":"))
    return ends_line or text.count('"') % 2 == 1 or text.count("'") % 2 == 1


def comparison_key(one: str) -> str:
    """Return a key that is equal for suggestions that differ only in whitespace."""
    return " ".join(one.split())
