"""The answer of an edit in place becomes a pending edit of its cell (*Fix & run*)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.server.client import Api
from tests.simulator import Simulator
from tests.simulator_process import notebook


def sources(root: Path) -> list[str]:
    cells = json.loads((root / "a.ipynb").read_text())["cells"]
    return ["".join(cell["source"]) for cell in cells]


async def inline(api: Api, upstream: Simulator) -> str:
    """An inline conversation with one turn."""
    upstream.script("x = 1")
    session = await api.new_session(tools="disabled", toolset="inline", mode="ask")
    await api.run(session, "Fix it.")
    return session


def put(text: str, base: str, **more: Any) -> dict[str, Any]:
    return {"document": "a.ipynb", "cell_id": "c1", "base": base, "text": text, **more}


async def test_the_answer_is_merged_with_the_cell_and_awaits_review(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "a.ipynb").write_text(notebook(("c1", "x = y\n# mine"), ("c2", "z = 3")))
    session = await inline(api, upstream)

    answer = await api.post(f"sessions/{session}/cell-text", put("x = 1\n# old", "x = y\n# old"))
    assert answer.body == {"text": "x = 1\n# mine"}
    assert sources(jp_root_dir) == ["x = 1\n# mine", "z = 3"]
    (edit,) = (await api.get("edits")).body["edits"]
    turn = [e for e in (await api.events(session)) if e["type"] == "turn-start"][-1]["turn_id"]
    assert (edit["session_id"], edit["cell_id"], edit["baseline"], edit["current"]) == (
        session,
        "c1",
        "x = y\n# mine",
        "x = 1\n# mine",
    )
    assert edit["turn_id"] == turn

    await api.post(f"edits/{edit['id']}", {"decision": "undo"})
    assert sources(jp_root_dir) == ["x = y\n# mine", "z = 3"]


async def test_only_an_inline_conversation_puts_text_into_a_cell(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    (jp_root_dir / "a.ipynb").write_text(notebook(("c1", "x = y")))
    chat = await api.new_session()
    refused = await api.post(f"sessions/{chat}/cell-text", put("x = 1", "x = y"))
    assert (refused.status, refused.code) == (400, "invalid_request")

    session = await inline(api, upstream)
    gone = await api.post(f"sessions/{session}/cell-text", put("x = 1", "x = y", cell_id="c9"))
    assert (gone.status, gone.code) == (404, "cell_not_found")
    other = await api.post(f"sessions/{session}/cell-text", put("x = 1", "x = 7"))
    assert (other.status, other.code) == (409, "stale")
    assert sources(jp_root_dir) == ["x = y"]
