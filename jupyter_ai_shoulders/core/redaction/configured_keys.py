"""Finds the configured keys, also encoded, reversed or split over lines. Used by ``redaction``.

Most text has none. A quick test looks up every eighth position among all 8-byte pieces of the keys
and their encodings; only a hit starts a search.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from urllib.parse import quote

from jupyter_ai_shoulders.core.redaction.search_text import Span, to_search_text

SHORTEST_SECRET = 8
"""Shorter values would redact ordinary words."""

_GRAM = 8
_SHORTEST_FORM = 2 * _GRAM - 1
"""Shortest text that contains a whole 8-byte piece at any offset."""
_BETWEEN = b" \t\r\n\x0b\x0c\"'\\,+|>#*"
"""Characters allowed between the parts of a split key; ignored in keys too."""
_LINE_NUMBER = re.compile(rb"\n[0-9]{1,7}[:\t]")
_KEPT = re.compile(rb"[^%b]" % re.escape(_BETWEEN))
_BASE64 = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")


@dataclass(frozen=True, slots=True)
class _Form:
    """One spelling of a key, without separators.

    ``before`` and ``after`` tell whether the adjacent characters hold bits of the key.
    """

    text: bytes
    before: bool = False
    after: bool = False


class ConfiguredKeys:
    """The configured keys."""

    def __init__(self, secrets: Iterable[str]) -> None:
        long_enough = [secret for secret in secrets if len(secret) >= SHORTEST_SECRET]
        plain = {spelling for secret in long_enough for spelling in _spellings(secret)}
        self.plain = tuple(sorted(plain, key=lambda value: (-len(value), value)))
        """The plain keys, also as they appear in URLs and JSON; longest first."""
        self._values = tuple(secret for secret in long_enough if secret.isascii())

    @cached_property
    def _first(self) -> re.Pattern[str]:
        return re.compile("|".join({re.escape(plain[0]) for plain in self.plain}))

    @cached_property
    def _forms(self) -> tuple[_Form, ...]:
        spelt = [*self._values, *(plain for plain in self.plain if plain.isascii())]
        forms = {form for secret in self._values for form in _encodings(secret)}
        forms |= {_Form(_joined(to_search_text(plain))) for plain in spelt}
        return tuple(sorted(forms, key=lambda form: -len(form.text)))

    @cached_property
    def _short_forms(self) -> tuple[_Form, ...]:
        return tuple(
            form for form in self._forms if SHORTEST_SECRET <= len(form.text) < _SHORTEST_FORM
        )

    @cached_property
    def _forms_by_gram(self) -> dict[int, set[_Form]]:
        found: dict[int, set[_Form]] = {}
        for form in self._forms:
            if len(form.text) >= _SHORTEST_FORM:
                for at in range(len(form.text) - _GRAM + 1):
                    gram = memoryview(form.text[at : at + _GRAM]).cast("Q")[0]
                    found.setdefault(gram, set()).add(form)
        return found

    def spans(self, text: str, view: bytes) -> Iterator[Span]:
        """Yield the spans of keys in the view of a text, unordered."""
        for plain in self.plain:
            at = text.find(plain)
            while at >= 0:
                yield at + 1 - _opens_escape(text, at), at + 1 + len(plain)
                at = text.find(plain, at + len(plain))
        if self._values:
            yield from self._hidden(view)

    def open_from(self, text: str) -> int:
        """Return where a key begins that the end of the text cuts off; the text's length if none
        does.
        """
        if not self.plain:
            return len(text)
        tail = max(0, len(text) - len(self.plain[0]) + 1)
        for found in self._first.finditer(text, tail):
            end = text[found.start() :]
            if any(plain.startswith(end) and plain != end for plain in self.plain):
                return found.start()
        return len(text)

    def _hidden(self, view: bytes) -> Iterator[Span]:
        view = _LINE_NUMBER.sub(_blank, view)
        joined = _joined(view)
        forms = self._forms_in(joined)
        if not forms:
            return
        places = [found.start() for found in _KEPT.finditer(view)]
        for form in forms:
            at = joined.find(form.text)
            while at >= 0:
                begin, end = _widened(joined, at, form)
                yield from _pieces(view, places[begin:end])
                at = joined.find(form.text, at + len(form.text))

    def _forms_in(self, joined: bytes) -> set[_Form]:
        """Return the forms that may occur in a text."""
        grams = memoryview(joined + bytes(-len(joined) % _GRAM)).cast("Q")
        known = self._forms_by_gram
        found = {form for form in self._short_forms if form.text in joined}
        if not known.keys().isdisjoint(grams):
            found.update(*(known[gram] for gram in known.keys() & set(grams)))
        return found


def _spellings(secret: str) -> set[str]:
    return {secret, quote(secret, safe=""), json.dumps(secret, ensure_ascii=False)[1:-1]}


def _encodings(secret: str) -> Iterator[_Form]:
    raw = secret.encode()
    yield _Form(_joined(to_search_text(secret[::-1])))
    for hexed in (raw.hex(), raw.hex().upper()):
        yield _Form(hexed.encode())
    for shift in range(3):
        first, last = -(-8 * shift // 6), 8 * (shift + len(raw)) // 6
        after = (shift + len(raw)) % 3 != 0
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(bytes(shift) + raw)[first:last]
            yield _Form(_joined(text), before=shift > 0, after=after)


def _joined(view: bytes) -> bytes:
    return view.translate(None, _BETWEEN)


def _blank(found: re.Match[bytes]) -> bytes:
    return b"\n" + b" " * (len(found.group()) - 1)


def _widened(joined: bytes, at: int, form: _Form) -> Span:
    """Return the span of a form, widened to characters that hold its first and last bits."""
    begin, end = at, at + len(form.text)
    if form.before and begin and joined[begin - 1] in _BASE64:
        begin -= 1
    if form.after:
        end += end < len(joined) and joined[end] in _BASE64
        while joined[end : end + 1] == b"=":
            end += 1
    return begin, end


def _pieces(view: bytes, places: list[int]) -> Iterator[Span]:
    """Yield the parts of a key; line breaks, quotes and backslashes between them stay."""
    begin = places[0]
    for last, place in pairwise(places):
        gap = view[last + 1 : place]
        if any(byte in gap for byte in b"\n\r\"'\\"):
            yield begin, last + 1
            begin = place
    yield begin, places[-1] + 1


def _opens_escape(text: str, at: int) -> int:
    r"""Return 1 if the backslash before this position starts an escape, as in JSON ``\next``."""
    before = text[:at] if at < 64 else text[at - 64 : at]
    return (len(before) - len(before.rstrip("\\"))) % 2
