"""Renders an answer for a cell, safe in any front end. Pure; called by ``magics``.

A front end's own Markdown renderer admits remote images and raw HTML, so text with either is
rendered here: HTML as text, images as links. Requested HTML and pictures are shown where no script
runs and nothing is loaded.
"""

from __future__ import annotations

import base64
import html
import json
import re
from typing import Any

from jupyter_ai_shoulders.kernel.magic_command import Format
from jupyter_ai_shoulders.wire.hidden_characters import legible, without_hidden

Bundle = dict[str, Any]

_RISKY = re.compile(r"!\[|<[A-Za-z/!?]")
"""Without one of these, no Markdown renderer finds an image or a tag."""
_FOLD = re.compile(r"<details>\n<summary>[^<\n]*</summary>\s*|</details>\s*")
"""Tags that fold a part of an exported conversation; they have no other effect."""
_FENCE = re.compile(r"^(`{3,}|~{3,})[^\n`]*\n(.*?)^\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_FRAME = (
    '<iframe sandbox="" referrerpolicy="no-referrer" style="width:100%;height:24em;border:0" '
    'title="Answer as HTML" srcdoc="{}"></iframe>'
)


def render_bundle(text: str, form: Format) -> Bundle:
    """Return the display data of a whole answer.

    Raises ``ValueError`` when it does not have the requested form; the message explains why.
    """
    match form:
        case "markdown" | "code":
            return markdown_bundle(text)
        case "text":
            return plain_text_bundle(text)
        case "html":
            return iframe_bundle(strip_code_fence(text))
        case "json":
            return json_bundle(strip_code_fence(text))
        case "image":
            return image_bundle(strip_code_fence(text))


def plain_text_bundle(text: str) -> Bundle:
    """Return display data for a terminal."""
    return {"text/plain": legible(text)}


def is_harmless(text: str) -> bool:
    """Return whether no Markdown renderer can load, run or hide anything with the text."""
    return not _RISKY.search(text) and not without_hidden(html.unescape(text))[1]


def markdown_bundle(text: str) -> Bundle:
    """Return Markdown with hidden characters shown as codes, rendered to HTML where that is not
    safe.
    """
    shown = plain_text_bundle(text)
    if is_harmless(shown["text/plain"]):
        return {"text/markdown": shown["text/plain"], **shown}
    return {"text/html": render_html(text), **shown}


def render_html(text: str, *, exported: bool = False) -> str:
    """Return Markdown as HTML in which the text's own tags are escaped and its images are links.

    In an ``exported`` conversation, folding tags are kept, and headings become bold lines, so that
    the notebook's table of contents does not list them.
    """
    import mistune
    from mistune.util import safe_entity

    class Links(mistune.HTMLRenderer):
        def text(self, text: str) -> str:
            return safe_entity(text)  # else escaped text would be escaped twice

        def image(self, text: str, url: str, title: str | None = None) -> str:
            return self.link(text or html.escape(url), url, title)

        def heading(self, text: str, level: int, **attrs: Any) -> str:
            if exported:
                return f"<p><strong>{text}</strong></p>\n"
            return super().heading(text, level, **attrs)

        def block_html(self, html: str) -> str:
            return html if exported and _FOLD.fullmatch(html) else super().block_html(html)

    render: Any = mistune.create_markdown(
        renderer=Links(escape=True), plugins=["table", "strikethrough"]
    )
    return legible(str(render(text)))  # afterwards: entities in the text are characters now


def iframe_bundle(page: str) -> Bundle:
    """Return a page in a frame without scripts, forms, external links or loaded resources."""
    policy = f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    return {"text/html": _FRAME.format(html.escape(policy + page)), **plain_text_bundle(page)}


def json_bundle(text: str) -> Bundle:
    """Return JSON as a tree. Raises ``ValueError``."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"The answer is not JSON ({error}).") from error
    shown = json.dumps(value, indent=2, ensure_ascii=False)
    return {"application/json": value, **plain_text_bundle(shown)}


def image_bundle(text: str) -> Bundle:
    """Return an SVG as a picture, in which no script runs. Raises ``ValueError``."""
    start = text.find("<svg")
    end = text.rfind("</svg>")
    if start < 0 or end < start:
        raise ValueError("The answer is no picture: there is no <svg> in it.")
    svg = text[start : end + len("</svg>")]
    data = base64.b64encode(svg.encode()).decode()
    image = f'<img alt="Picture from the model" src="data:image/svg+xml;base64,{data}">'
    return {"text/html": image, **plain_text_bundle(svg)}


def strip_code_fence(text: str) -> str:
    """Return the only or first code block of an answer, or all of it."""
    found = _FENCE.search(text)
    return (found[2] if found else text).strip()


def extract_code(text: str) -> str | None:
    """Return the code of an answer for a cell: its code blocks one below the other."""
    blocks = [found[2].rstrip() for found in _FENCE.finditer(text)]
    return "\n\n".join(blocks) or None
