"""Keeps foreign text inside its Markdown block: fences, quotes, single lines.

Pure; used by ``markdown`` and ``notebook``. Text of a model, a file or a web page must not end its
block, hide what follows, or load anything (CommonMark 0.31, sections 4.5 and 4.6).
"""

from __future__ import annotations

import html
import re
from typing import NamedTuple

_RUNS = re.compile("`+")
_FENCE = re.compile(r"^( {0,3})(`{3,}|~{3,})(.*)$")
_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:.+?)(?<!`)\1(?!`)")
_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#|~!])")
_IMAGE = re.compile(r"!(?=\[)")
_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,30}")


def code_block(text: str, language: str = "") -> str:
    """Return the text as a code block that nothing in it can end."""
    longest = max((len(run) for run in _RUNS.findall(text)), default=0)
    fence = "`" * max(3, longest + 1)
    info = language if _LANGUAGE.fullmatch(language) else ""
    end = "" if text.endswith("\n") or not text else "\n"
    return f"{fence}{info}\n{text}{end}{fence}"


def block_quote(text: str) -> str:
    """Return the text as a block quote; a fence that it leaves open ends with the quote."""
    return "\n".join(f"> {line}".rstrip() for line in contain_markdown(text).splitlines()) or ">"


def one_line(text: str) -> str:
    """Return the text as plain words on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def one_line_html(text: str) -> str:
    """Return the text as plain words on one line, inside an HTML tag."""
    return html.escape(" ".join(text.split()))


def contain_markdown(text: str) -> str:
    """Return Markdown that ends every fence it opens, without HTML and without images.

    An indented fence may be part of a list, which the line alone does not show: it is ended before
    the first less indented line, and tags in it are escaped as well.
    """
    lines: list[str] = []
    fence: _Fence | None = None
    for line in text.splitlines():
        if fence is not None and line.strip() and _indent(line) < fence.indent:
            lines.append(fence.end)
            fence = None
        marker = _FENCE.match(line)
        if fence is None:
            fence = _opened(marker)
            lines.append(line if fence else _plain(line))
        elif marker is not None and _closes(marker, fence):
            fence = None
            lines.append(line)
        else:
            lines.append(_harmless(line) if fence.indent else line)
    if fence is not None:
        lines.append(fence.end)
    return "\n".join(lines)


class _Fence(NamedTuple):
    indent: int
    marks: str

    @property
    def end(self) -> str:
        return " " * self.indent + self.marks


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _opened(marker: re.Match[str] | None) -> _Fence | None:
    if marker is None or (marker[2][0] == "`" and "`" in marker[3]):
        return None
    return _Fence(len(marker[1]), marker[2])


def _closes(marker: re.Match[str], fence: _Fence) -> bool:
    same = marker[2][0] == fence.marks[0] and len(marker[2]) >= len(fence.marks)
    return same and not marker[3].strip()


def _plain(line: str) -> str:
    """Return a line of prose with its tags escaped; code spans are kept."""
    pieces: list[str] = []
    position = 0
    for span in _CODE_SPAN.finditer(line):
        pieces += (_harmless(line[position : span.start()]), span.group())
        position = span.end()
    return "".join((*pieces, _harmless(line[position:])))


def _harmless(prose: str) -> str:
    return _IMAGE.sub(r"\\!", _TAG.sub("&lt;", prose))
