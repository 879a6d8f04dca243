"""Sent and previewed model requests over HTTP."""

from pathlib import Path
from typing import Any

from tests.server.client import Api
from tests.simulator import Simulator, ToolUse, reply


def said(view: dict[str, Any]) -> str:
    """Return all text of the messages."""
    parts = [part for message in view["messages"] for part in message["parts"]]
    return "\n".join(part.get("text", "") for part in parts)


def names(request: dict[str, Any]) -> list[str]:
    """Return the names of the tools offered."""
    return [tool["name"] for tool in request["tools"]]


def sent_texts(body: dict[str, Any]) -> str:
    """Return all text of the messages of a body in Anthropic's format."""
    blocks = [block for message in body["messages"] for block in message["content"]]
    return "\n".join(block.get("text", "") for block in blocks)


async def test_a_request_is_shown_as_it_was_sent(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "_instructions.md").write_text("Use metric units.<!-- not this -->")
    await api.trust_folder()
    upstream.script(reply(ToolUse(name="read_notebook", arguments={"path": "a.ipynb"})), "Gone.")
    session_id = await api.new_session()
    await api.run(session_id, "Look")

    first = (await api.get(f"sessions/{session_id}/requests/1")).body
    second = (await api.get(f"sessions/{session_id}/requests/2")).body

    bodies = [record.body for record in upstream.requests]
    assert [first["system"], second["system"]] == [body["system"][0]["text"] for body in bodies]
    assert "Use metric units." in first["system"]
    assert "not this" not in first["system"]
    assert said(first) == sent_texts(bodies[0])
    assert [tool["name"] for tool in first["tools"]] == [
        tool["name"] for tool in bodies[0]["tools"]
    ]
    assert len(second["messages"]) == len(bodies[1]["messages"]) == 3
    assert (first["model"], first["step"], first["provider"]) == (
        "claude-haiku-5-5",
        1,
        "anthropic",
    )
    assert first["tokens"] > 0


async def test_the_latest_turn_is_meant_unless_another_is_named(
    api: Api, upstream: Simulator
) -> None:
    upstream.script("One.", "Two.")
    session_id = await api.new_session()
    first = (await api.run(session_id, "First", "m1"))[1]["turn_id"]
    async with api.stream(session_id) as stream:
        await api.send(session_id, "Second", "m2")
        await stream.until("turn-end", count=2)

    latest = (await api.get(f"sessions/{session_id}/requests/1")).body
    named = (await api.get(f"sessions/{session_id}/requests/1", turn=first)).body

    assert ("Second" in said(latest), "Second" in said(named)) == (True, False)
    assert named["turn_id"] == first
    missing = await api.get(f"sessions/{session_id}/requests/7")
    assert (missing.status, missing.code) == (404, "not_found")


async def test_a_preview_is_what_is_sent_then(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "data.csv").write_text("a,b\n1,2\n")
    upstream.script("Seen.")
    session_id = await api.new_session()
    message = {"text": "Look", "attachments": [{"kind": "file", "path": "data.csv"}]}
    before = await api.events(session_id)

    preview = (await api.post(f"sessions/{session_id}/preview", message)).body

    assert await api.events(session_id) == before
    assert upstream.requests == []
    assert "a,b\n1,2" in said(preview)
    async with api.stream(session_id) as stream:
        await api.post(f"sessions/{session_id}/messages", {"id": "m1", **message})
        await stream.until("turn-end")
    sent = sent_texts(upstream.requests[0].body)
    assert without_marks(sent) == without_marks(said(preview))
    assert preview["system"] == upstream.requests[0].body["system"][0]["text"]


def without_marks(text: str) -> list[str]:
    """Return the lines that do not depend on the conversation or the time."""
    return [line for line in text.splitlines() if not line.startswith(("<data", "</data", "local"))]


async def test_keys_are_not_shown(api: Api, upstream: Simulator) -> None:
    session_id = await api.new_session()
    preview = await api.post(
        f"sessions/{session_id}/preview", {"text": f"My key is {upstream.key}"}
    )
    assert upstream.key not in str(preview.body)
    assert "[redacted]" in said(preview.body)


async def test_a_blank_preview_is_refused(api: Api) -> None:
    session_id = await api.new_session()
    refused = await api.post(f"sessions/{session_id}/preview", {"text": " "})
    assert (refused.status, refused.code) == (400, "invalid_request")


async def test_a_secret_file_is_refused_and_the_user_is_told(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / ".env").write_text("PASSWORD=hunter2hunter2")
    upstream.script("I cannot see it.")
    session_id = await api.new_session()
    message = {"id": "m1", "text": "Read", "attachments": [{"kind": "file", "path": ".env"}]}
    async with api.stream(session_id) as stream:
        await api.post(f"sessions/{session_id}/messages", message)
        await stream.until("turn-end")
    notice = next(event for event in stream.events if event["type"] == "notice")
    assert "holds secrets" in notice["text"]
    assert "hunter2" not in str(upstream.requests[0].body)
    assert "[attached file: .env; not shown:" in sent_texts(upstream.requests[0].body)
