"""After a crash the files themselves tell whether a change was made."""

from __future__ import annotations

from typing import Any

import pytest

from jupyter_ai_shoulders.engine.calls.batch_runner import start_record
from jupyter_ai_shoulders.engine.calls.interrupted_calls import resolve_interrupted_calls
from jupyter_ai_shoulders.engine.loop.state import AllowCall, CallState
from jupyter_ai_shoulders.wire.ids import CallId
from tests.tools.file_conversation import FileConversation, notebook

CHANGES: dict[str, tuple[str, dict[str, Any]]] = {
    "make": ("write_file", {"path": "new.txt", "content": "x\n"}),
    "make in a folder": ("create_file", {"path": "new/a.txt", "content": "x\n"}),
    "write over": ("write_file", {"path": "a.txt", "content": "x\n"}),
    "edit": ("edit_file", {"path": "a.txt", "old_string": "one", "new_string": "two"}),
    "rename": ("rename_file", {"path": "a.txt", "new_path": "b.txt"}),
    "rename a notebook": ("rename_file", {"path": "n.ipynb", "new_path": "m.ipynb"}),
    "move into a folder": ("move_file", {"path": "a.txt", "new_path": "data"}),
    "copy": ("duplicate_file", {"path": "a.txt", "new_path": "b.txt"}),
    "delete": ("delete_file", {"path": "a.txt"}),
    "delete what is no text": ("delete_file", {"path": "a.bin"}),
}


async def told(files: FileConversation, tool: str, arguments: dict[str, Any], *, done: bool) -> str:
    """Begin a call, carry it out or not, and return what is found out after a crash."""
    subject = await files.tool(tool).subject(files.arguments(tool, arguments), files.context())
    start = start_record(CallId("call_1"), subject)
    if done:
        rest = {name: value for name, value in arguments.items() if name != "path"}
        assert (await files.call(tool, arguments["path"], **rest)).ok
    call = CallState(
        call_id=CallId("call_1"),
        tool=tool,
        arguments=arguments,
        invalid=None,
        risk="write",
        title=tool,
        verdict=AllowCall(),
        start=start,
    )
    found = await resolve_interrupted_calls([call], files.registry, files.context())
    return found[0].status if found else "unknown"


@pytest.mark.parametrize(("tool", "arguments"), CHANGES.values(), ids=CHANGES.keys())
@pytest.mark.parametrize("done", [True, False], ids=["made", "not made"])
async def test_file_tells_whether_it_was_changed(
    files: FileConversation, tool: str, arguments: dict[str, Any], done: bool
):
    files.here.write("a.txt", "one\n")
    files.here.write("a.bin", b"\0\1")
    files.here.write("data/x.txt", "x")
    files.here.write("n.ipynb", notebook("a = 1"))
    for path in ("a.txt", "a.bin", "n.ipynb"):
        await files.call("read_file", path)
    assert await told(files, tool, arguments, done=done) == ("ok" if done else "cancelled")


async def test_file_that_somebody_else_changed_tells_nothing(files: FileConversation):
    files.here.write("a.txt", "one\n")
    await files.call("read_file", "a.txt")
    arguments = {"path": "a.txt", "old_string": "one", "new_string": "two"}
    subject = await files.subject("edit_file", **arguments)
    files.here.write("a.txt", "three\n")
    call = CallState(
        call_id=CallId("call_1"),
        tool="edit_file",
        arguments={**arguments},
        invalid=None,
        risk="write",
        title="Edit file",
        verdict=AllowCall(),
        start=start_record(CallId("call_1"), subject),
    )
    assert await resolve_interrupted_calls([call], files.registry, files.context()) == ()
