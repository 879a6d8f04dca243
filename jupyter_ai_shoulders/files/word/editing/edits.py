r"""Finds the text of an edit in a paragraph, and the smallest changes that make it. Pure.

Texts are those of ``Paragraph.text``: ``\n`` is a line break in what is there, and begins a new
paragraph where it is added.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.files.word.parsing.paragraphs import Paragraph

DIFF_LIMIT = 20_000
"""Characters of two texts up to which they are compared by words."""
NEAR = 3
"""Similar paragraphs that an error names."""
_QUOTED = 200
_SIMILAR = 0.5
_ALIKE = str.maketrans(
    {
        "\u00a0": " ",
        "\u202f": " ",
        "\u2009": " ",
        "\u2011": "-",
        "\u2018": "'",
        "\u2019": "'",
        "\u201c": '"',
        "\u201d": '"',
        "\u2028": "\n",
        "\t": " ",
    }
)
"""Characters that models write differently; used where the exact text does not occur."""
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""Characters that XML 1.0 does not allow."""
_IDEOGRAPHS = (("\u2e80", "\u9fff"), ("\uac00", "\ud7af"), ("\uf900", "\ufaff"))


@dataclass(frozen=True, slots=True)
class ParagraphEdit:
    """A wanted change of one paragraph's text; equal texts only add the comment."""

    paragraph: int
    old: str
    new: str
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class TextChange:
    """The characters from ``start`` to ``end`` of a paragraph become ``text``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class FoundEdit:
    """An edit and its place in its paragraph's text."""

    paragraph: Paragraph
    start: int
    end: int
    changes: tuple[TextChange, ...]
    comment: str | None
    removes: bool
    """Whether the whole paragraph is to be removed."""


def find_edit(paragraphs: Sequence[Paragraph], edit: ParagraphEdit) -> FoundEdit:
    """Return where an edit applies.

    Raises ``NotFound`` (no such paragraph or text, with similar ones), ``Conflict`` (``ambiguous``)
    and ``InvalidRequest``.
    """
    if not 1 <= edit.paragraph <= len(paragraphs):
        raise NotFound(
            f"there is no paragraph {edit.paragraph}; the last is {len(paragraphs)}",
            hint="Read the document again for its numbers.",
        )
    paragraph = paragraphs[edit.paragraph - 1]
    text, old, new = paragraph.text, _line_ends(edit.old), _line_ends(edit.new)
    if _FORBIDDEN.search(new) or _FORBIDDEN.search(edit.comment or ""):
        raise InvalidRequest(
            "the new text has a control character, which a document cannot have",
            code="invalid_arguments",
            hint="Leave it out.",
        )
    start = _place(paragraphs, paragraph, text, old)
    end = start + len(old)
    removes = new == "" and start == 0 and end == len(text)
    changes = [] if removes else smallest_changes(text[start:end], old, new)
    if not changes and not removes and not edit.comment:
        raise InvalidRequest(
            f"the edit of paragraph {edit.paragraph} changes nothing: old_string and new_string "
            "are equal and there is no comment",
            code="invalid_arguments",
        )
    return FoundEdit(
        paragraph=paragraph,
        start=start,
        end=end,
        changes=tuple(TextChange(start + c.start, start + c.end, c.text) for c in changes),
        comment=edit.comment,
        removes=removes,
    )


def _line_ends(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _place(paragraphs: Sequence[Paragraph], paragraph: Paragraph, text: str, old: str) -> int:
    """Return where ``old`` begins in the paragraph's text."""
    if not old:
        if text:
            raise InvalidRequest(
                f"old_string is empty, but paragraph {paragraph.number} has text",
                code="invalid_arguments",
                hint="Give the text to replace; an empty one is for empty paragraphs.",
            )
        return 0
    for there, wanted in ((text, old), (text.translate(_ALIKE), old.translate(_ALIKE))):
        first = there.find(wanted)
        if first < 0:
            continue
        count = _occurrences(there, wanted)
        if count > 1:
            raise Conflict(
                f"old_string occurs {count} times in paragraph {paragraph.number}",
                code="ambiguous",
                hint="Give more of the text around the place you mean.",
            )
        return first
    raise _not_found(paragraphs, paragraph, text, old)


def _occurrences(text: str, wanted: str) -> int:
    """Return how often a text occurs, overlapping ones included."""
    count, at = 0, text.find(wanted)
    while at >= 0:
        count, at = count + 1, text.find(wanted, at + 1)
    return count


def _not_found(
    paragraphs: Sequence[Paragraph], paragraph: Paragraph, text: str, old: str
) -> NotFound:
    elsewhere = [each for each in paragraphs if old in each.text][:NEAR]
    if not elsewhere and len(old) < 2_000:
        near = difflib.SequenceMatcher(None, autojunk=False)
        near.set_seq2(old)
        for each in paragraphs[:2_000]:
            near.set_seq1(each.text[:2_000])
            if near.real_quick_ratio() > _SIMILAR and near.quick_ratio() > _SIMILAR + 0.2:
                elsewhere.append(each)
    others = [each for each in elsewhere if each is not paragraph][:NEAR]
    told = "".join(f' Similar: {each.number} "{each.text[:_QUOTED]}".' for each in others)
    return NotFound(
        f"old_string does not occur in paragraph {paragraph.number}, which reads "
        f'"{text[:_QUOTED]}".{told}',
        hint="It must match exactly and lie in one paragraph; give the number of that paragraph.",
    )


def smallest_changes(text: str, old: str, new: str) -> list[TextChange]:
    """Return the changes by words that make ``new`` of ``text``.

    ``old`` has the same length as ``text`` and may differ in characters that are alike.
    """
    if len(old) + len(new) > DIFF_LIMIT:
        return [TextChange(0, len(text), new)] if old != new else []
    before, after = _words(old), _words(new)
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    starts = [0]
    for word in before:
        starts.append(starts[-1] + len(word))
    changes = [
        TextChange(starts[i1], starts[i2], "".join(after[j1:j2]))
        for tag, i1, i2, j1, j2 in matcher.get_opcodes()
        if tag != "equal"
    ]
    return [change for change in changes if change.text != text[change.start : change.end]]


def _words(text: str) -> list[str]:
    """Return the words of a text, with spaces and signs as words of their own.

    Signs that combine stay with the character before them; ideographs are words.
    """
    words: list[str] = []
    kind = ""
    for sign in text:
        now = _kind(sign)
        if words and now != "sign" and (now == "joined" or (now == kind == "word")):
            words[-1] += sign
            if sign == "\u200d":
                kind = "joiner"
            continue
        if words and kind == "joiner":
            words[-1] += sign
        else:
            words.append(sign)
        kind = now
    return words


def _kind(sign: str) -> str:
    if sign in "\u200d\ufe0e\ufe0f" or unicodedata.category(sign)[0] == "M":
        return "joined"
    if any(low <= sign <= high for low, high in _IDEOGRAPHS):
        return "sign"
    return "word" if sign.isalnum() or sign == "_" else "sign"
