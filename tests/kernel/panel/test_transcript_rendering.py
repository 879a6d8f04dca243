"""The conversation in a saved notebook."""

from __future__ import annotations

import json
from html.parser import HTMLParser

import pytest

from jupyter_ai_shoulders.kernel.panel.transcript_rendering import (
    ended_turns,
    transcript_bundle,
    transcript_html,
    truncate_transcript,
)

TALK = (
    "# Why?\n\n## You · now\n\n> Why?\n\n## Agent\n\nBecause *so*.\n\n"
    "<details>\n<summary>Run cell 4</summary>\n\nTool: run_cell\n\n```\n1 < 2\n```\n\n</details>\n"
)


class Tags(HTMLParser):
    """All tags of a page with their attributes."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def tags_of(text: str) -> list[tuple[str, dict[str, str | None]]]:
    tags = Tags()
    tags.feed(text)
    return tags.found


def test_a_conversation_is_shown_with_its_calls_folded() -> None:
    shown = transcript_html(TALK, "p1")

    assert shown.startswith('<div class="shoulders-transcript shoulders-transcript-p1"')
    assert "<p><strong>Why?</strong></p>" in shown  # no heading: the notebook has its own
    assert "<em>so</em>" in shown
    assert "<details>\n<summary>Run cell 4</summary>" in shown
    assert "1 &lt; 2" in shown
    assert shown.count("<details>") == shown.count("</details>") == 1


@pytest.mark.parametrize(
    "said",
    [
        "<script>alert(1)</script>",
        "text <img src=x onerror=alert(1)> text",
        "![x](https://evil.example/pixel.png)",
        "[x](javascript:alert(1))",
        "[x](data:text/html,<script>alert(1)</script>)",
        "<details ontoggle=alert(1) open>\n<summary>x</summary>\n\n</details>",
        "<details>\n<summary><img src=x onerror=alert(1)></summary>\n",
        '<iframe srcdoc="x"></iframe>',
        "<style>body { background: url(https://evil.example) }</style>",
        "</div></details><form action=https://evil.example><input></form>",
        '<svg><a xlink:href="javascript:alert(1)">x</a></svg>',
        "`</code><script>alert(1)</script>`",
        "```html\n</code></pre><script>alert(1)</script>\n```",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "| a |\n|---|\n| <script>alert(1)</script> |",
        "<https://evil.example/?x=<script>>",
        '"></div><script>alert(1)</script>',
    ],
)
def test_nothing_that_was_said_runs_or_loads(said: str) -> None:
    for text in (said, f"## Agent\n\n{said}\n", TALK.replace("Because", said)):
        found = tags_of(transcript_html(text, "p1"))
        allowed = {"div", "p", "a", "em", "strong", "pre", "code", "blockquote", "details"}
        table = {"table", "thead", "tbody", "tr", "th", "td", "summary", "br"}
        assert {tag for tag, _ in found} <= allowed | table
        for _, attributes in found[1:]:
            assert attributes.keys() <= {"href", "class", "title"}
            where = attributes.get("href") or "https:"
            assert where.startswith(("https:", "#"))


def test_markdown_is_given_where_no_renderer_can_load_anything() -> None:
    assert transcript_bundle("*Hello* & good bye", "p")["text/markdown"] == "*Hello* & good bye"
    assert "text/markdown" not in transcript_bundle("![x](https://evil.example/pixel.png)", "p")


def test_what_the_export_escaped_is_shown_as_it_was_said() -> None:
    assert "<p>a &lt;b&gt; c</p>" in transcript_html("a &lt;b> c", "p")


def test_of_a_long_conversation_the_end_is_kept_from_the_beginning_of_a_message() -> None:
    long = "# T\n\n" + "".join(f"## You · {n}\n\n> {'x' * 50}\n\n" for n in range(100))

    kept = truncate_transcript(long, 300)

    notice, _, rest = kept.partition("\n\n")
    assert notice == "*The beginning of this conversation is left out here; the side panel has it.*"
    assert rest.startswith("## You · ")
    assert rest == long[-len(rest) :]
    assert len(rest) <= 300
    assert truncate_transcript(TALK) == TALK


def test_ended_turns_are_read_from_frames() -> None:
    def frame(*events: tuple[str, str]) -> str:
        said = [{"type": kind, "session_id": session} for kind, session in events]
        return json.dumps({"type": "events", "events": said}, separators=(",", ":"))

    assert ended_turns(frame(("turn-end", "a"), ("text-delta", "b"), ("turn-end", "c"))) == {
        "a",
        "c",
    }
    assert ended_turns(frame(("text-delta", "a"))) == frozenset()
    assert ended_turns('{"type":"document-read","note":"turn-end"}') == frozenset()
