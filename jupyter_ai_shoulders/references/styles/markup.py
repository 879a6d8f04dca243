"""Rendered entries as safe HTML, Markdown and text. Pure; used by ``references.styles.worker``."""

from __future__ import annotations

import html
import re

_TAG = re.compile(r"<(/?)([a-z]+)((?: [^<>]*)?)>")
_ANY_TAG = re.compile(r"<[^<>]*>|[<>]")
_ALLOWED = frozenset({"i", "b", "sup", "sub"})
_ADDRESS = re.compile(r"https?://[^\s<>]+[^\s<>.,;:)\]]")
_MARKDOWN_SPECIAL = re.compile(r"([\\`*_\[\]<>#|~^$])")
_LINE_START = re.compile(r"^(\d+)([.)])")
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUPERSCRIPT = re.compile(r"<sup>([\d,– -]+)</sup>")


def safe_html(rendered: str) -> str:
    """Return the processor's HTML with allowed tags without attributes, and addresses as links."""
    text = _ANY_TAG.sub(_allowed_tag, rendered)
    return _ADDRESS.sub(
        lambda address: f'<a href="{address[0].replace(chr(34), "%22")}">{address[0]}</a>', text
    )


def _allowed_tag(match: re.Match[str]) -> str:
    """Return an allowed tag without attributes; others vanish, a lone bracket becomes an entity."""
    if len(match[0]) == 1:
        return html.escape(match[0])
    tag = _TAG.fullmatch(match[0])
    return f"<{tag[1]}{tag[2]}>" if tag and tag[2] in _ALLOWED else ""


def plain_text(rendered: str) -> str:
    """Return the text without markup; superscript numbers are superscript characters."""
    text = _SUPERSCRIPT.sub(lambda number: number[1].translate(_SUPERSCRIPTS), rendered)
    return html.unescape(_TAG.sub("", text))


def markdown(rendered: str) -> str:
    """Return the text as Markdown that shows the same in JupyterLab, nbconvert and Quarto."""
    marks = {"i": "*", "b": "**"}
    parts: list[str] = []
    end = 0
    for tag in _TAG.finditer(rendered):
        parts.append(_escaped(rendered[end : tag.start()]))
        name = tag[2]
        if name in marks:
            parts.append(marks[name])
        elif name in ("sup", "sub"):
            parts.append(f"<{tag[1]}{name}>")
        end = tag.end()
    parts.append(_escaped(rendered[end:]))
    return _LINE_START.sub(r"\1\\\2", "".join(parts))


def _escaped(text: str) -> str:
    """Return text with Markdown's characters escaped; addresses become links of their own."""
    plain = html.unescape(text)
    parts: list[str] = []
    end = 0
    for address in _ADDRESS.finditer(plain):
        parts.append(_MARKDOWN_SPECIAL.sub(r"\\\1", plain[end : address.start()]))
        parts.append(f"<{address[0]}>")
        end = address.end()
    return "".join([*parts, _MARKDOWN_SPECIAL.sub(r"\\\1", plain[end:])])
