"""Exported conversations are complete and valid, and hostile text stays inside its block."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import mistune
import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jupyter_ai_shoulders.host.export.exporter import Exporter, Format
from jupyter_ai_shoulders.host.export.markdown_escaping import (
    block_quote,
    code_block,
    contain_markdown,
    one_line,
)
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.events import Event, event_adapter
from jupyter_ai_shoulders.wire.ids import CallId, MessageId, PartId
from jupyter_ai_shoulders.wire.parts import TextPart
from jupyter_ai_shoulders.wire.results import ToolEnvelope
from tests.storage.store import MovableClock, Store

FIXTURES = sorted((Path(__file__).parents[2] / "wire/fixtures/reducer").glob("*.json"))
HOSTILE = [
    "```",
    "````\n```\n",
    "~~~ python\nnever ended",
    "```python\nnever ended",
    "</details></details>",
    "<!-- hidden",
    "<script>alert(1)</script>",
    "<style>*{display:none}</style>",
    "![x](https://evil.example/p.png)",
    "<img src=https://evil.example/p.png>",
    "> quote\n```\nin it",
    "- item\n  ```\n  open",
    "`<b>` and ``a ` b`` <b>",
    "text\n===\n```js\n</details>\n```\n<div>",
    "]]>\n<![CDATA[",
    "\\`\\`\\`",
]
END = "The end of it all."


def blocks(text: str) -> list[dict[str, Any]]:
    """The top-level blocks of a Markdown reader."""
    tree = mistune.create_markdown(renderer=None)(text)
    assert isinstance(tree, list)
    return [block for block in tree if block["type"] != "blank_line"]


def raw(block: dict[str, Any]) -> str:
    """All text of a block."""
    return block.get("raw", "") + "".join(raw(child) for child in block.get("children", ()))


def kinds(block: dict[str, Any]) -> set[str]:
    """The types of a block and of all inside it."""
    return {block["type"]}.union(*(kinds(child) for child in block.get("children", ())))


def mistune_kinds(text: str) -> set[str]:
    """All types that mistune finds; a heading only when it is the last block."""
    seen = blocks(text)
    inner = set[str]().union(*map(kinds, seen)) - {"heading"}
    return inner | ({"heading"} if seen[-1]["type"] == "heading" else set())


def markdown_it_kinds(text: str) -> set[str]:
    """The same, by a reader that follows CommonMark strictly."""
    tokens = MarkdownIt("commonmark").parse(text)
    seen = {child.type for token in tokens for child in (token, *(token.children or ()))}
    last = tokens[-1].type == "heading_close" and tokens[-2].content == END
    return (seen - {"heading"}) | ({"heading"} if last else set())


def check_contained(text: str) -> None:
    """Text after it is a separate paragraph, and nothing in it is HTML or an image."""
    seen = blocks(f"{text}\n\n{END}")
    assert raw(seen[-1]) == END
    assert seen[-1]["type"] == "paragraph"
    for block in seen:
        assert not kinds(block) & {"block_html", "inline_html", "image"}, block


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_does_not_leave_its_fence(text: str):
    (block, last) = blocks(f"{code_block(text)}\n\n{END}")
    assert (block["type"], block["raw"].rstrip("\n")) == ("block_code", text.rstrip("\n"))
    assert raw(last) == END


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_prose_neither_hides_what_follows_nor_loads_anything(text: str):
    check_contained(contain_markdown(text))
    check_contained(block_quote(text))
    check_contained(one_line(text) or "x")


@given(st.text(alphabet="`~<>!-[]()/ab \n", max_size=60))
def test_no_prose_brings_html_or_swallows_the_heading_that_follows(text: str):
    for reader in (mistune_kinds, markdown_it_kinds):
        seen = reader(f"{contain_markdown(text)}\n\n## {END}\n")
        assert not seen & {"block_html", "inline_html", "html_block", "html_inline", "image"}
        assert "heading" in seen


@given(st.text(alphabet="`~<>!-[]()/ab \n", max_size=60))
def test_no_text_leaves_its_fence_or_quote(text: str):
    assert raw(blocks(f"{code_block(text)}\n\n{END}")[-1]) == END
    assert raw(blocks(f"{block_quote(text)}\n\n{END}")[-1]) == END
    lines = code_block(text).split("\n")
    assert all(line.strip() != lines[0] for line in lines[1:-1])


def test_code_and_spans_show_what_they_hold():
    text = "See `<b>`.\n\n```html\n<b>bold</b>\n```"
    assert contain_markdown(text) == text


class ExportStore:
    """A store with one conversation, and its exports."""

    def __init__(self, path: Path) -> None:
        self.store = Store(path / ".shoulders", MovableClock())
        self.id = self.store.add("x", title="My <b>plot</b>").id

    def add(self, *events: Event) -> None:
        for event in events:
            self.store.log.append(self.id, event)

    async def export(self, form: Format) -> str:
        exporter = Exporter(self.store.log)
        return "".join([piece async for piece in exporter.export(self.id, form)])

    async def notebook(self) -> dict[str, Any]:
        """Return the exported notebook, checked."""
        text = await self.export("ipynb")
        nbformat.validate(nbformat.reads(text, as_version=4))
        return json.loads(text)


@pytest.fixture
def shelf(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[ExportStore]:
    made = ExportStore(tmp_path)
    yield made
    jp_asyncio_loop.run_until_complete(made.store.log.aclose())
    made.store.database.close()


def events_of(fixture: Path) -> list[Event]:
    content = json.loads(fixture.read_text(encoding="utf-8"))
    return [event_adapter().validate_python(event) for event in content["events"]][1:]


def fixture(name: str) -> list[Event]:
    (found,) = [path for path in FIXTURES if path.stem == name]
    return events_of(found)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
async def test_every_conversation_exports_in_every_form(shelf: ExportStore, path: Path):
    shelf.add(*(event for event in events_of(path) if event.type != "session-update"))

    text = await shelf.export("md")
    notebook = await shelf.notebook()
    lines = (await shelf.export("jsonl")).splitlines()

    assert text.startswith("# My \\<b\\>plot\\</b\\>\n")
    ids = [cell["id"] for cell in notebook["cells"]]
    assert len(ids) == len(set(ids))
    logged = [event.text for event in shelf.store.log.read(shelf.id)]
    assert lines == logged
    openings, closings = text.count("\n<details>\n"), text.count("\n</details>\n")
    assert openings == closings


async def test_markdown_has_messages_calls_results_and_cost(shelf: ExportStore):
    shelf.add(*fixture("approval-allow"))
    text = await shelf.export("md")

    assert "> Fix the plot" in text
    assert "<summary>" in text
    assert "Approval: allow" in text
    assert re.search(r"Used \d+ tokens in", text)


async def test_edited_message_is_exported_as_it_stands_and_says_what_is_left_out(
    shelf: ExportStore,
):
    shelf.add(*fixture("edited-message"))
    text = await shelf.export("md")

    assert "> Second, put better" in text
    assert "> Second\n" not in text
    assert "1 earlier version of edited messages left out" in text
    assert "- [ ] one" in text
    assert "Second" in await shelf.export("jsonl")


def turn_with(text: str) -> list[Event]:
    return [
        ev.MessageAdd(message_id=MessageId("m"), text=text),
        ev.TextStart(part_id=PartId("p")),
        ev.TextDelta(part_id=PartId("p"), text=text),
        ev.TextEnd(part_id=PartId("p")),
        ev.ToolCall(
            call_id=CallId("c"),
            tool="run_code",
            arguments={"path": "a", "code": text},
            raw=None,
            invalid=None,
            risk="execute",
            external=False,
            title=text,
            target=text,
        ),
        ev.ToolResult(
            call_id=CallId("c"),
            tool="run_code",
            status="ok",
            result=ToolEnvelope(ok=True, kind="text", data=None),
            content=(TextPart(text=text),),
            duration_ms=1,
        ),
        ev.Notice(level="warning", code="x", text=text),
        ev.TurnEnd(exit="ended_by_tool", summary=text),
        ev.MessageAdd(message_id=MessageId("n"), text=END),
    ]


@pytest.mark.parametrize("text", HOSTILE)
async def test_hostile_conversation_stays_in_its_blocks(shelf: ExportStore, text: str):
    shelf.add(*turn_with(text))
    exported = await shelf.export("md")

    seen = blocks(exported)
    assert raw(seen[-1]).strip() == END
    assert seen[-1]["type"] == "block_quote"
    html = [block["raw"].strip() for block in seen if block["type"] == "block_html"]
    assert len(html) == 2, html
    assert html[0].startswith("<details>\n<summary>")
    assert html[1] == "</details>"
    assert html[0].count("<") == 3
    assert not any(kinds(block) & {"inline_html", "image"} for block in seen)


async def test_notebook_has_the_code_the_agent_wrote_as_cells(shelf: ExportStore):
    shelf.add(*turn_with("x = 1"))
    notebook = await shelf.notebook()

    codes = [cell["source"] for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert codes == ["x = 1"]


@pytest.mark.parametrize("body", ["{}", "not json", '{"type": "from-the-future", "seq": 2}'])
async def test_unreadable_events_are_left_out_and_said(shelf: ExportStore, body: str):
    shelf.add(*turn_with("hello"))
    connection = shelf.store.database.open()
    connection.execute("UPDATE events SET body = ? WHERE type = 'text-delta'", (body,))

    text = await shelf.export("md")
    lines = (await shelf.export("jsonl")).splitlines()

    assert "**1 event could not be read and is missing" in text
    assert f"> {END}" in text
    assert len(lines) == len(turn_with("")) + 1
    assert all(isinstance(json.loads(line), dict) for line in lines)
    assert await shelf.notebook()


async def test_long_conversation_comes_in_pieces(shelf: ExportStore):
    for number in range(120):
        shelf.add(ev.MessageAdd(message_id=MessageId(f"m{number}"), text="x" * 100))
    exporter = Exporter(shelf.store.log)

    pieces = [piece async for piece in exporter.export(shelf.id, "md")]

    assert len(pieces) > 100
    assert max(map(len, pieces)) < 1_000
