"""Decodes and encodes text files, keeping encoding and line ends. Pure.

Used by ``files.disk_texts`` and by tools that show files. Decoding is strict, so that unchanged
text is written back byte for byte; only binary content is refused.
"""

from __future__ import annotations

import codecs
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.core.text_merge import line_changes

_LINE_END = re.compile(r"\r\n|\r|\n")
_BOMS = (
    # The longer ones first: a UTF-32 mark starts like one of UTF-16.
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_SAMPLE = 8_192
"""Bytes examined to recognise text without a mark."""
_CONTROL = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f]")
"""Bytes that text does not contain; bell, backspace, tab, line ends, form feed and escape can
occur.
"""
_CONTROL_SHARE = 0.02
_ZERO_SHARE = 0.3
"""Share of zeros among the high bytes of UTF-16 without a mark; in Latin text nearly all are zero.
"""


@dataclass(frozen=True, slots=True)
class DecodedText:
    r"""A decoded file; ``raw`` has the file's own line ends, ``text`` ``\n`` only."""

    raw: str
    encoding: str
    """A name that Python knows."""
    bom: bytes = b""

    @property
    def text(self) -> str:
        r"""The text with ``\n`` for every line end."""
        return normalize_newlines(self.raw)

    @property
    def newline(self) -> str:
        """The line end that most lines have."""
        return dominant_newline(self.raw)

    @property
    def encoding_name(self) -> str:
        """The display name of the encoding, with its mark."""
        return f"{self.encoding} with BOM" if self.bom else self.encoding

    def with_text(self, text: str) -> DecodedText:
        """Return another text in the same form; unchanged lines keep their line ends."""
        return DecodedText(
            _with_line_ends(self.raw, normalize_newlines(text)), self.encoding, self.bom
        )

    def encoded(self) -> bytes:
        """Return the bytes. Raises ``InvalidRequest`` when the encoding lacks a character."""
        try:
            return self.bom + self.raw.encode(self.encoding)
        except UnicodeEncodeError as error:
            missing = self.raw[error.start : error.end][:1]
            raise InvalidRequest(
                f"The file is in {self.encoding}, which has no {missing!r} "
                f"(U+{ord(missing):04X}); nothing was written.",
                hint="Use characters that this encoding has, or convert the file to UTF-8 first.",
            ) from error


class TextForm(Protocol):
    """A file's text in the form the file has; ``DecodedText``, or that of a Word document."""

    @property
    def text(self) -> str:
        r"""The text with ``\n`` for every line end."""
        ...

    @property
    def newline(self) -> str:
        """The line end that most lines have."""
        ...

    @property
    def encoding_name(self) -> str:
        """The display name of the form."""
        ...

    def with_text(self, text: str) -> TextForm:
        """Return another text in the same form."""
        ...

    def encoded(self) -> bytes:
        """Return the bytes. Raises ``ShouldersError`` for what the form cannot hold."""
        ...


Decoder = Callable[[bytes, str], TextForm]
"""Returns the text of a file from its bytes and its path. Raises ``InvalidRequest``."""


def decode_text(content: bytes, path: str) -> DecodedText:
    """Return a file's text. Raises ``InvalidRequest`` for binary content."""
    for bom, encoding in _BOMS:
        if content.startswith(bom):
            return _with_mark(content, bom, encoding, path)
    wide = _wide_encoding(content)
    if wide is not None and (found := _strict(content, wide)) is not None:
        return DecodedText(found, wide)
    if is_binary(content):
        raise _binary(path)
    for encoding in ("utf-8", "cp1252"):
        found = _strict(content, encoding)
        if found is not None:
            return DecodedText(found, encoding)
    return DecodedText(content.decode("latin-1"), "latin-1")


def is_binary(content: bytes) -> bool:
    """Return whether the first bytes show that this is neither UTF-8 nor a single-byte encoding."""
    sample = content[:_SAMPLE]
    if b"\0" in sample:
        return True
    return len(_CONTROL.findall(sample)) > _CONTROL_SHARE * len(sample)


def normalize_newlines(text: str) -> str:
    r"""Return the text with ``\n`` for every line end."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def dominant_newline(raw: str) -> str:
    r"""Return the line end that most lines have; ``\n`` for a text on one line."""
    if "\r" not in raw:
        return "\n"
    counted = Counter(_LINE_END.findall(raw)).most_common(1)
    return counted[0][0]


def _with_mark(content: bytes, bom: bytes, encoding: str, path: str) -> DecodedText:
    found = _strict(content[len(bom) :], encoding)
    if found is None:
        raise _binary(path)
    return DecodedText(found, encoding, bom)


def _strict(content: bytes, encoding: str) -> str | None:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError:
        return None


def _wide_encoding(content: bytes) -> str | None:
    """Return which UTF-16 a text without a mark is in, by the position of its zeros."""
    sample = content[:_SAMPLE]
    if len(content) % 2 or len(sample) < 4 or b"\0" not in sample:
        return None
    half = len(sample) // 2
    even, odd = sample[0::2].count(0), sample[1::2].count(0)
    if odd > _ZERO_SHARE * half and even == 0:
        return "utf-16-le"
    if even > _ZERO_SHARE * half and odd == 0:
        return "utf-16-be"
    return None


def _binary(path: str) -> InvalidRequest:
    return InvalidRequest(
        f"{path} is not a text file.", hint="Only text files can be read and edited as text."
    )


def _with_line_ends(raw: str, text: str) -> str:
    r"""Return ``text``, which has ``\n`` only, with the line ends of ``raw``."""
    if "\r" not in raw:
        return text
    ends = _LINE_END.findall(raw)
    usual = dominant_newline(raw)
    if len(set(ends)) == 1:
        return text.replace("\n", usual)
    before = normalize_newlines(raw)
    lines = text.split("\n")
    kept: list[str] = []
    position = 0
    for change in line_changes(before, text):
        kept += ends[position : change.start]
        replaced = ends[change.start : change.end]
        same = len(replaced) == len(change.lines)
        kept += replaced if same else [usual] * len(change.lines)
        position = change.end
    kept += ends[position:]
    kept = (kept + [usual] * len(lines))[: len(lines) - 1]
    return "".join(line + end for line, end in zip(lines, [*kept, ""], strict=True))
