"""Restores over HTTP, on real files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.server.client import ENDED, Api
from tests.simulator import Simulator, ToolUse, reply
from tests.simulator_process import notebook

BOOK = notebook(("c1", "x = 1"), ("c2", "y = 2"))


def use(tool: str, **arguments: Any) -> Any:
    return ToolUse(name=tool, arguments={"path": "a.ipynb", **arguments})


def put(file: Path) -> None:
    file.write_text(BOOK)


def sources(file: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(file.read_text())["cells"]]


async def worked(api: Api, upstream: Simulator, file: Path) -> tuple[str, int]:
    """A turn that edits, adds and deletes; return the session and the position of its message."""
    put(file)
    upstream.script(
        reply(use("read_notebook")),
        reply(
            use("edit_cell", cell_id="c1", source="x = 9"),
            use("add_cell", source="z = 3", after="c1"),
            use("delete_cell", cell_id="c2"),
        ),
        "Done.",
    )
    session_id = await api.new_session(mode="auto_edit")
    async with api.stream(session_id) as stream:
        await api.send(session_id, "Please", "m1")
        await stream.until(ENDED)
    assert sources(file) == ["x = 9", "z = 3"]
    (said,) = [e for e in await api.events(session_id) if e["type"] == "message-add"]
    return session_id, said["seq"]


async def test_restore_leaves_the_file_byte_for_byte_as_it_was(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    file = jp_root_dir / "a.ipynb"
    session_id, seq = await worked(api, upstream, file)

    answer = await api.post(
        f"sessions/{session_id}/restore", {"seq": seq, "what": ["notebook", "conversation"]}
    )

    assert answer.status == 202
    (document,) = answer.body["documents"]
    assert {key: len(document[key]) for key in ("removed", "returned", "rewritten", "kept")} == {
        "removed": 1,
        "returned": 1,
        "rewritten": 1,
        "kept": 0,
    }
    assert file.read_text() == BOOK
    assert (await api.events(session_id))[-1]["type"] in {"restore", "session-update"}
    assert (await api.get(f"sessions/{session_id}")).body["message_count"] == 0
    page = await api.get(f"sessions/{session_id}/events", after=seq)
    assert answer.body in page.body["events"]


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ({"seq": 1, "what": ["notebook"]}, 400, "invalid_request"),
        ({"seq": 9999, "what": ["notebook"]}, 400, "invalid_request"),
        ({"seq": 0, "what": ["notebook"]}, 400, "invalid_request"),
        ({"seq": 2, "what": []}, 400, "invalid_request"),
        ({"seq": 2, "what": ["everything"]}, 400, "invalid_request"),
    ],
    ids=["no message", "no event", "zero", "nothing", "unknown"],
)
async def test_wrong_restores_are_refused(
    api: Api, body: dict[str, Any], status: int, code: str
) -> None:
    session_id = await api.new_session()

    answer = await api.post(f"sessions/{session_id}/restore", body)

    assert (answer.status, answer.code) == (status, code)


async def test_restore_of_an_unknown_session_is_not_found(api: Api) -> None:
    answer = await api.post("sessions/none/restore", {"seq": 2, "what": ["notebook"]})

    assert (answer.status, answer.code) == (404, "not_found")
