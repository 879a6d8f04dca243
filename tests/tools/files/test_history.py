"""``file_history`` and ``undo_file_change``: what they list, take back and refuse."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import aclosing
from pathlib import Path
from typing import Any, cast

import pytest

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.core.operation_journal import LoggedChange
from jupyter_ai_shoulders.files.base import ChangeOrigin, TextEditApplied
from jupyter_ai_shoulders.tools.base import CallContext, CallSubject, Result
from jupyter_ai_shoulders.tools.files.history import LISTED, history_tools
from jupyter_ai_shoulders.tools.registry import InvalidCall, ToolRegistry
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CallId, OperationId, SessionId, TurnId
from jupyter_ai_shoulders.wire.parts import TextPart
from tests.files.file_workspace import SESSION, FileWorkspace, file_workspace, origin
from tests.tools.result_checks import check_result

THEIRS = ChangeOrigin(SessionId("theirs"), TurnId("turn_x"))


class History:
    """Calls both tools."""

    def __init__(self, here: FileWorkspace) -> None:
        self.here = here
        self.hidden: set[SessionId | None] = set()
        tools = history_tools(
            here.workspace,
            here.journal,
            here.undo,
            here.texts,
            lambda _, row: row not in self.hidden,
        )
        self._registry = ToolRegistry(cast("Any", tools), lambda name: name)

    async def call(self, tool: str, **arguments: object) -> Result:
        args = self._args(tool, arguments)
        stream = cast("Any", self._registry.get(tool)).run(args, _context())
        async with aclosing(stream) as items:
            [result] = [item async for item in items]
        check_result(result)
        return result

    async def subject(self, **arguments: object) -> CallSubject:
        args = self._args("undo_file_change", arguments)
        tool = cast("Any", self._registry.get("undo_file_change"))
        return await tool.subject(args, _context())

    def _args(self, tool: str, arguments: dict[str, object]) -> object:
        args = self._registry.validate(tool, cast("JsonObject", arguments))
        assert not isinstance(args, InvalidCall), args
        return args


def _context() -> CallContext:
    return CallContext(
        session_id=SESSION,
        turn_id=TurnId("turn_2"),
        call_id=CallId("call_9"),
        seen={},
        active_document=None,
    )


def said(result: Result) -> str:
    return "".join(part.text for part in result.content if isinstance(part, TextPart))


@pytest.fixture
def history(tmp_path: Path) -> Generator[History]:
    with file_workspace(tmp_path) as here:
        yield History(here)


async def edit(
    history: History, path: str, old: str, new: str, by: ChangeOrigin | None = None
) -> OperationId:
    texts = history.here.texts
    read = await texts.read(path)
    text = read.text.replace(old, new)
    applied = await texts.replace(path, text, read.version, by or origin())
    assert isinstance(applied, TextEditApplied)
    return applied.operation_id


async def test_history_lists_changes_the_latest_first(history: History) -> None:
    history.here.write("a.txt", "one\n")
    first = await edit(history, "a.txt", "one", "two")
    await history.here.changes.move("a.txt", "b.txt", THEIRS)

    result = await history.call("file_history")

    assert said(result).splitlines() == [
        "2 changes, the latest first:",
        "operation_2  2026-03-02T09:30:02.000Z  agent: move a.txt → b.txt. can be undone",
        f"{first}  2026-03-02T09:30:01.000Z  you: edit a.txt. can be undone",
    ]
    assert result.envelope.meta.total == 2
    assert said(await history.call("file_history", path="c.txt")) == (
        "No changes of c.txt are in the log."
    )
    history.hidden.add(THEIRS.session_id)
    assert said(await history.call("file_history", path="./a.txt")).startswith("1 change of a.txt")


async def test_a_long_history_is_cut_and_says_so(history: History) -> None:
    for number in range(LISTED + 3):
        operation_id = history.here.journal.begin(LoggedChange("edit", f"{number}.txt", origin()))
        history.here.journal.end(operation_id, "done")
    result = await history.call("file_history")
    assert said(result).splitlines()[-1] == "… and 3 older ones."
    assert (result.envelope.meta.total, result.envelope.meta.truncated) == (LISTED + 3, True)


async def test_the_latest_change_is_taken_back_and_again(history: History) -> None:
    here = history.here
    here.write("a.txt", "one\ntwo\n")
    await edit(history, "a.txt", "one", "1")
    second = await edit(history, "a.txt", "two", "2")

    result = await history.call("undo_file_change")

    assert here.read("a.txt") == b"1\ntwo\n"
    assert said(result) == (
        "Taken back: edit a.txt (this undo is operation_3)\n@@ -1,2 +1,2 @@\n 1\n-2\n+two"
    )
    assert result.envelope.kind == "diff"
    assert [(seen.path, seen.version) for seen in result.seen] == [
        ("a.txt", (await here.texts.read("a.txt")).version)
    ]
    await history.call("undo_file_change", path="a.txt")
    assert here.read("a.txt") == b"one\ntwo\n"
    await history.call("undo_file_change", operation_id="operation_3")
    assert here.journal.get(second).state == "done"


async def test_a_call_shows_what_it_would_take_back(history: History) -> None:
    await history.here.changes.create("x/a.txt", "text", origin())
    shown = await history.subject()
    assert (shown.title, shown.target.path, shown.moves_or_removes) == (
        "Undo change",
        "x/a.txt",
        True,
    )
    assert shown.preview == "Take back: create x/a.txt\nTake back: mkdir x/"
    assert shown.undoable


async def test_what_the_user_made_of_it_is_kept_and_said(history: History) -> None:
    here = history.here
    lines = "".join(f"{number}\n" for number in range(9))
    here.write("a.txt", lines)
    await edit(history, "a.txt", "1\n", "one\n")
    here.write("a.txt", here.read("a.txt") + b"mine\n")

    result = await history.call("undo_file_change")

    assert here.read("a.txt").decode() == lines + "mine\n"
    assert "what was changed since stays" in said(result)
    assert result.seen == ()


async def test_a_clash_is_refused_with_what_would_differ(history: History) -> None:
    history.here.write("a.txt", "one\n")
    await edit(history, "a.txt", "one", "agent")
    history.here.write("a.txt", "user\n")

    result = await history.call("undo_file_change")

    assert not result.ok
    assert result.envelope.error is not None
    assert result.envelope.error.code == "conflict"
    assert "-user\n+one" in said(result)
    assert history.here.read("a.txt") == b"user\n"


async def test_others_changes_are_neither_meant_nor_found(history: History) -> None:
    history.here.write("a.txt", "one\n")
    theirs = await edit(history, "a.txt", "one", "two", THEIRS)
    with pytest.raises(NotFound, match=r"has made no change of a\.txt"):
        await history.call("undo_file_change", path="a.txt")
    history.hidden.add(THEIRS.session_id)
    with pytest.raises(NotFound, match="There is no change"):
        await history.call("undo_file_change", operation_id=theirs)
    history.hidden.clear()
    await history.call("undo_file_change", operation_id=theirs)
    assert history.here.read("a.txt") == b"one\n"
    with pytest.raises(NotFound):
        await history.subject(operation_id="operation_99")
