"""Display data of answers, and content that must not be in it."""

from __future__ import annotations

import base64
import html
import json
import re
from html.parser import HTMLParser
from typing import get_args

import pytest

from jupyter_ai_shoulders.kernel.answer_rendering import (
    extract_code,
    render_bundle,
    strip_code_fence,
)
from jupyter_ai_shoulders.kernel.magic_command import Format

HOSTILE = "a\x1b]0;owned\x07\x9b2J\u202eb\u200bc\U000e0041"
RAW = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u200c\u202e\U000e0041]")
LOADS = {"src", "srcset", "background", "data", "poster", "style"}


class Tags(HTMLParser):
    """The tags that a browser finds, with the resources they would load."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.attributes: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.attributes |= {name for name, _ in attrs}


def test_plain_markdown_is_left_to_the_front_end() -> None:
    text = "**Bold** $x < 1$ and `a < b`\n\n```python\nx = 1\n```"
    assert render_bundle(text, "markdown") == {"text/markdown": text, "text/plain": text}


@pytest.mark.parametrize("form", get_args(Format))
@pytest.mark.parametrize(
    "text",
    [HOSTILE, f"{HOSTILE} <b>x</b>", "a&#x202e;b&zwnj;c&#8203;d"],
    ids=["raw", "html", "entities"],
)
def test_nothing_steers_a_terminal_or_hides(form: Format, text: str) -> None:
    around = {"json": json.dumps(text, ensure_ascii=False), "image": f"<svg>{text}</svg>"}
    shown = render_bundle(around.get(form, text), form)

    texts = {kind: shown[kind] for kind in ("text/plain", "text/markdown") if kind in shown}
    if form in {"markdown", "code"} and "text/html" in shown:
        texts["text/html"] = shown["text/html"]
    assert RAW.findall(texts.pop("text/plain")) == []
    for kind, each in texts.items():
        assert RAW.findall(html.unescape(each)) == [], kind


@pytest.mark.parametrize(
    "text",
    [
        "![x](https://evil.example/?q=1)",
        "![x][r]\n\n[r]: https://evil.example/p.png",
        '<img src="https://evil.example/p.png">',
        '<div style="background:url(https://evil.example)">x</div>',
        "`foo\n`<img src=https://evil.example>`",
        "$$\n```\n$$\n<img src=https://evil.example>\n```",
        "- a\n  ```\n<img src=https://evil.example>\n",
        "<svg><script>alert(1)</script></svg>",
        "<a data-commandlinker-command='x'>y</a>",
        "[x](javascript:alert(1)) <b>",
    ],
)
def test_nothing_is_loaded_or_run_by_an_answer(text: str) -> None:
    shown = render_bundle(text, "markdown")

    assert set(shown) == {"text/html", "text/plain"}
    tags = Tags(shown["text/html"])
    assert tags.names <= {"p", "a", "code", "pre", "ul", "li"}
    assert not tags.attributes & LOADS
    assert 'href="javascript' not in shown["text/html"]


def test_html_stands_in_a_frame_where_no_script_runs() -> None:
    shown = render_bundle("Here:\n```html\n<h1>Hi</h1><script>1</script>\n```", "html")["text/html"]

    assert Tags(shown).names == {"iframe"}
    assert 'sandbox=""' in shown
    page = html.unescape(re.findall(r'srcdoc="([^"]*)"', shown)[0])
    assert page.startswith('<meta http-equiv="Content-Security-Policy" content="default-src')
    assert page.endswith("<h1>Hi</h1><script>1</script>")


def test_json_is_a_tree() -> None:
    assert render_bundle('```json\n{"a": [1]}\n```', "json")["application/json"] == {"a": [1]}


def test_a_picture_is_shown_as_an_image() -> None:
    svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'
    shown = render_bundle(f"```svg\n<?xml version='1.0'?>\n{svg}\n```", "image")["text/html"]

    assert Tags(shown).names == {"img"}
    assert base64.b64decode(re.findall(r"base64,([^\"]*)", shown)[0]).decode() == svg


@pytest.mark.parametrize("form", ["json", "image"])
def test_an_answer_of_another_form_is_named(form: str) -> None:
    with pytest.raises(ValueError, match="The answer is n"):
        render_bundle("I cannot.", form)  # pyright: ignore[reportArgumentType]: one of the forms


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("No code.", None),
        ("```python\nx = 1\n```", "x = 1"),
        ("a\n```\none\n```\nb\n~~~py\ntwo\n~~~\n", "one\n\ntwo"),
        ("````\n```\ninner\n```\n````", "```\ninner\n```"),
        ("```python\nunclosed", None),
    ],
)
def test_the_code_of_an_answer_is_found(text: str, code: str | None) -> None:
    assert extract_code(text) == code


def test_an_answer_without_a_block_is_taken_whole() -> None:
    assert strip_code_fence(" [1] ") == "[1]"
