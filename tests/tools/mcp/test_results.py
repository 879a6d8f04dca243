"""What becomes of a server's answer."""

from __future__ import annotations

import base64
from typing import Any

import mcp_types as types
import pytest

from jupyter_ai_shoulders.tools.mcp.results import MAX_TEXT, result_of
from jupyter_ai_shoulders.wire.parts import ImagePart, TextPart
from tests.tools.mcp.fake_servers import said

PNG = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5E"
    "rkJggg=="
)


def answered(*content: Any, **more: Any):
    return types.CallToolResult(content=list(content), **more)


async def texts(answer: types.CallToolResult) -> str:
    result = await result_of("demo", "echo", answer)
    return "\n".join(part.text for part in result.content if isinstance(part, TextPart))


async def test_a_picture_is_a_picture_and_a_false_one_is_not():
    good = types.ImageContent(data=PNG, mime_type="image/png")
    bad = types.ImageContent(data=base64.b64encode(b"\x00binary").decode(), mime_type="image/png")
    result = await result_of("demo", "echo", answered(good, bad))
    assert isinstance(result.content[0], ImagePart)
    assert "cannot be shown" in getattr(result.content[1], "text", "")


async def test_everything_else_is_named():
    audio = types.AudioContent(data="AAAA", mime_type="audio/wav")
    link = types.ResourceLink(name="n", uri="file:///a", description="d\u202e")
    blob = types.BlobResourceContents(uri="x://b", blob="AAAA", mime_type="application/pdf")
    text = types.TextResourceContents(uri="x://t", text="inside")
    shown = await texts(
        answered(audio, link, *(types.EmbeddedResource(resource=each) for each in (blob, text)))
    )
    assert "[audio (audio/wav), not shown]" in shown
    assert "[link to resource file:///a: d\\u202e]" in shown
    assert "application/pdf" in shown
    assert "inside" in shown


SHOWN_ONCE: dict[str, tuple[str, dict[str, Any], int]] = {
    "as JSON": ('{"b": 2, "a": 1}', {"a": 1, "b": 2}, 1),
    "other": ("one", {"a": 1}, 2),
    "a text": ("one", {"result": "one"}, 1),
    "a number": ("42", {"result": 42}, 1),
    "a truth is no number": ("1", {"result": True}, 2),
}


@pytest.mark.parametrize(("text", "structured", "parts"), SHOWN_ONCE.values(), ids=SHOWN_ONCE)
async def test_structured_content_is_shown_once(text: str, structured: dict[str, Any], parts: int):
    answer = said(text, structured_content=structured)
    assert len((await result_of("demo", "echo", answer)).content) == parts


async def test_structured_content_reaches_the_page():
    result = await result_of("demo", "echo", said("one", structured_content={"a": 1}))
    assert result.envelope.data == {"server": "demo", "tool": "echo", "structured": {"a": 1}}


async def test_an_error_is_an_error():
    result = await result_of("demo", "echo", said("no such city", is_error=True))
    assert not result.ok
    assert result.envelope.error is not None
    assert result.envelope.error.message == "no such city"


async def test_an_endless_answer_is_cut_and_said():
    shown = await texts(said("x" * (MAX_TEXT + 5)))
    assert len(shown) < MAX_TEXT + 100
    assert "5 more characters are left out" in shown
    many = answered(*(types.TextContent(text=str(n)) for n in range(1_000)))
    assert "900 more parts are left out" in await texts(many)
