"""The edits of paragraphs that make another text, given one line per paragraph. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from jupyter_ai_shoulders.files.word.editing.edits import ParagraphEdit
from jupyter_ai_shoulders.files.word.parsing.document import LINE_BREAK, line_of


def line_edits(paragraphs: Sequence[str], text: str) -> tuple[ParagraphEdit, ...]:
    """Return the edits that turn the paragraphs into the lines of ``text``.

    Lines that follow one another are paired; further ones become paragraphs, or remove them.
    """
    before = [line_of(each) for each in paragraphs]
    matcher = difflib.SequenceMatcher(None, before, text.split("\n"), autojunk=False)
    found: list[ParagraphEdit] = []
    after = [line.replace(LINE_BREAK, "\n") for line in text.split("\n")]
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            found += _block(paragraphs, after[j1:j2], i1, i2)
    return tuple(found)


def _block(
    paragraphs: Sequence[str], lines: Sequence[str], start: int, end: int
) -> Iterator[ParagraphEdit]:
    paired = min(end - start, len(lines))
    if start == end:
        added = "\n".join(lines)
        before = start > 0
        number = start if before else 1
        old = paragraphs[number - 1]
        yield ParagraphEdit(number, old, f"{old}\n{added}" if before else f"{added}\n{old}")
        return
    for offset in range(paired):
        new = lines[offset]
        if offset == paired - 1 and len(lines) > paired:
            new = "\n".join([new, *lines[paired:]])
        yield ParagraphEdit(start + offset + 1, paragraphs[start + offset], new)
    for position in range(start + paired, end):
        yield ParagraphEdit(position + 1, paragraphs[position], "")
