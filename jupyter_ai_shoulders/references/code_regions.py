"""Blanks out what is not prose in Markdown and LaTeX, so that rules about citations skip it.

Called by ``citation_syntax``. Positions stay: every blanked character becomes a space.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator

_FENCE = re.compile(r"(?P<indent> {0,3})(?P<mark>`{3,}|~{3,}|:{3,})(?P<info>[^\n]*)")
# fmt: off
_MARKDOWN_DIRECTIVES = frozenset({
    "note", "warning", "tip", "important", "caution", "danger", "attention", "hint", "error",
    "admonition", "seealso", "figure", "table", "list-table", "margin", "sidebar", "aside",
    "dropdown", "epigraph", "topic", "tab-set", "tab-item", "grid", "grid-item", "card",
    "exercise", "solution", "proof", "theorem", "lemma", "definition", "corollary", "example",
    "remark", "blockquote",
})
# fmt: on
"""Directives of MyST whose content is Markdown (https://mystmd.org/guide/directives)."""
_DIRECTIVE = re.compile(r"\{(?:prf:)?([\w-]+)\}")
_RUN = re.compile(r"`+")
_ROLE_BEFORE = re.compile(r"\{[\w:+.-]{1,64}\}\Z")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|^%[^\n]*", re.DOTALL | re.MULTILINE)
_LIST_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,9}[.)])\s")
_LATEX = re.compile(
    r"(?<!\\)%[^\n]*"
    r"|\\begin\{(verbatim|lstlisting|minted|comment)\*?\}.*?(?:\\end\{\1\*?\}|\Z)"
    r"|\\(?:verb|lstinline)\*?([^\w\s*])[^\n]*?\2",
    re.DOTALL,
)
_NOT_NEWLINE = re.compile(r"[^\n]")


def prose_of_latex(text: str) -> str:
    """Return LaTeX of the same length with comments and verbatim text blanked."""
    return _blanked(text, (match.span() for match in _LATEX.finditer(text)))


def prose_of_markdown(text: str) -> str:
    """Return Markdown of the same length with code, comments and front matter blanked.

    The content of roles (``{cite}`key```) stays.
    """
    text = _blanked(text, _code_blocks(text))
    text = _blanked(text, (match.span() for match in _COMMENT.finditer(text)))
    return _blanked(text, _code_spans(text))


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts: list[str] = []
    position = 0
    for start, end in spans:
        parts += text[position:start], _NOT_NEWLINE.sub(" ", text[start:end])
        position = end
    return "".join((*parts, text[position:]))


def _code_blocks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of fenced and indented code and of front matter, in order."""
    blocks = _BlockScanner()
    position = 0
    for line in text.splitlines(keepends=True):
        end = position + len(line)
        if blocks.is_code(line.rstrip("\n"), is_first=position == 0):
            yield position, end
        position = end


class _BlockScanner:
    """Follows the fences of a document line by line."""

    def __init__(self) -> None:
        self._fences: list[tuple[str, bool]] = []
        """Open fences: their mark, and whether they hold code."""
        self._front_matter = False
        self._after_blank = True
        self._in_list = False
        self._indented = False

    def is_code(self, line: str, *, is_first: bool) -> bool:
        """Return whether a line is code, a fence or front matter."""
        if self._front_matter or (is_first and line == "---"):
            self._front_matter = is_first or line not in {"---", "..."}
            return True
        if self._fence_line(line):
            return True
        if self._fences and self._fences[-1][1]:
            return True
        return self._is_indented(line)

    def _fence_line(self, line: str) -> bool:
        match = _FENCE.fullmatch(line)
        if match is None:
            return False
        mark, info = match["mark"], match["info"].strip()
        if self._fences:
            opened, holds_code = self._fences[-1]
            if mark[0] == opened[0] and len(mark) >= len(opened) and not info:
                self._fences.pop()
                return True
            if holds_code:
                return False
        if mark[0] == "`" and "`" in info:
            return False
        directive = _DIRECTIVE.match(info)
        is_markdown = mark[0] == ":" or (
            directive is not None and directive[1] in _MARKDOWN_DIRECTIVES
        )
        self._fences.append((mark, not is_markdown))
        return not is_markdown

    def _is_indented(self, line: str) -> bool:
        if not line.strip():
            self._after_blank = True
            return False
        deep = line.startswith(("    ", "\t"))
        if not deep:
            self._in_list = _LIST_ITEM.match(line) is not None or (self._in_list and line[0] == " ")
        starts = self._after_blank and not self._in_list
        self._indented = deep and (starts or self._indented)
        self._after_blank = False
        return self._indented


def _code_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield the code spans that are no roles; a span ends within its paragraph."""
    start = 0
    for blank in (*_BLANK_LINE.finditer(text), None):
        end = len(text) if blank is None else blank.start()
        yield from _paragraph_spans(text, start, end)
        start = end


def _paragraph_spans(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    runs = [match.span() for match in _RUN.finditer(text, start, end)]
    by_length: dict[int, list[int]] = {}
    for index, (first, last) in enumerate(runs):
        by_length.setdefault(last - first, []).append(index)
    index = 0
    while index < len(runs):
        first, last = runs[index]
        same = by_length[last - first]
        place = bisect_right(same, index)
        if place == len(same):
            index += 1
            continue
        close = same[place]
        if _ROLE_BEFORE.search(text, max(start, first - 70), first) is None:
            yield first, runs[close][1]
        index = close + 1
