"""Text files are read and written through the editor: unsaved text is seen, none is lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from acp import schema

from tests.cli.acp.buffers import Buffers
from tests.cli.acp.editor import FakeEditor, connected
from tests.cli.acp.test_editor_agent import tool
from tests.cli.conftest import Terminal
from tests.simulator_process import notebook, says

SAVED = "one\ntwo\nthree\nfour\nfive\n"
TYPED = "one\ntwo\nthree\nfour\nfive, typed\n"


def results(terminal: Terminal) -> str:
    """Return the last request to the model, which has the results of all calls."""
    return json.dumps(terminal.upstream.requests()[-1]["body"], ensure_ascii=False)


def edit(name: str, old: str, new: str) -> dict[str, Any]:
    return tool("edit_file", path=name, old_string=old, new_string=new)


def typed(path: Path, text: str = TYPED, **how: Any) -> FakeEditor:
    """An editor with unsaved text of a file."""
    return FakeEditor(buffers=Buffers(texts={str(path): text}, **how))


@pytest.mark.parametrize("saves", [False, True], ids=["keeps", "saves"])
async def test_an_edit_lands_in_the_buffer_and_is_undone_there(
    terminal: Terminal, saves: bool
) -> None:
    path = terminal.root / f"notes-{saves}.txt"
    path.write_text(SAVED)
    editor = typed(path, saves=saves)
    assert editor.buffers is not None
    terminal.plays(
        tool("read_file", path=path.name),
        edit(path.name, "two", "TWO"),
        says("Edited."),
        tool("undo_file_change", path=path.name),
        says("Undone."),
        edit(path.name, "three", "THREE"),
        says("Edited."),
    )
    async with connected(terminal.root, editor) as run:
        made = await run.new()
        assert await run.prompt(made.session_id, "Edit.") == "end_turn"
        assert "five, typed" in results(terminal)
        edited = TYPED.replace("two", "TWO")
        assert editor.buffers.texts[str(path)] == edited
        assert path.read_text() == (edited if saves else SAVED)
        ((question, _),) = editor.asked  # as on the disk
        made_diff = editor.of("tool_call_update")[-1].content[0]
        assert (made_diff.old_text, made_diff.new_text) == (TYPED, edited)
        assert question.content is not None
        asked_diff = question.content[-1]
        assert isinstance(asked_diff, schema.FileEditToolCallContent)
        assert (asked_diff.path, made_diff.path) == (str(path), str(path))
        assert "two\n" in (asked_diff.old_text or "")
        assert "TWO\n" in asked_diff.new_text
        editor.buffers.texts[str(path)] = edited.replace("one", "one, typed later")
        assert await run.prompt(made.session_id, "Undo.") == "end_turn"
        undone = TYPED.replace("one", "one, typed later")
        assert editor.buffers.texts[str(path)] == undone
        assert path.read_text() == (undone if saves else SAVED)
        await run.prompt(made.session_id, "Edit again.")
        edited = undone.replace("three", "THREE")
        for command, text in (("/undo", undone), ("/redo", edited), ("/undo", undone)):
            assert await run.prompt(made.session_id, command) == "end_turn"
            assert editor.buffers.texts[str(path)] == text
        assert f"{path.name}: file text restored" in editor.text


async def test_a_linked_file_is_seen_with_its_unsaved_text(terminal: Terminal) -> None:
    path = terminal.root / "linked.txt"
    path.write_text(SAVED)
    long = terminal.root / "linked long.txt"
    long.write_text("short")
    editor = typed(path)
    assert editor.buffers is not None
    editor.buffers.texts[str(long)] = "é" * 50_000
    terminal.plays(says("Seen."))
    async with connected(terminal.root, editor) as run:
        made = await run.new()
        links = [
            schema.ResourceContentBlock(type="resource_link", name="x", uri=file.as_uri())
            for file in (path, long)
        ]
        await run.prompt(made.session_id, "Look.", *links)
    assert "five, typed" in results(terminal)
    assert "é" * 25_000 in results(terminal)
    assert "only its first 50 KB" in results(terminal)


async def test_a_folder_of_the_servers_workspace_is_the_editors(attached: Terminal) -> None:
    folder = attached.root / "below"
    folder.mkdir()
    for name in ("inside.txt", "../outside.txt"):
        (folder / name).write_text(SAVED)
    editor = typed(folder / "inside.txt")
    names = ("below/inside.txt", "outside.txt")
    attached.plays(*[tool("read_file", path=name) for name in names], says("Done."))
    async with connected(attached.root, editor) as run:
        made = await run.agent.new_session(cwd=str(folder), mcp_servers=[])
        await run.prompt(made.session_id, "Read.")
    assert editor.buffers is not None
    assert editor.buffers.asked == [("read", "inside.txt")]
    assert "five, typed" in results(attached)


async def test_what_is_typed_while_the_edit_is_made_stays(attached: Terminal) -> None:
    path = attached.root / "typing.txt"
    path.write_text(SAVED)

    def type_four(text: str) -> str:
        return text.replace("four", "four, typed")

    editor = typed(path, SAVED, typed=type_four)
    attached.plays(
        tool("read_file", path=path.name), edit(path.name, "two", "TWO"), says("Edited.")
    )
    async with connected(attached.root, editor) as run:
        made = await run.new()
        await run.prompt(made.session_id, "Edit.")
    assert editor.buffers is not None
    assert editor.buffers.texts[str(path)] == "one\nTWO\nthree\nfour, typed\nfive\n"


async def test_an_edit_of_lines_that_were_typed_over_is_refused(attached: Terminal) -> None:
    path = attached.root / "stale.txt"
    path.write_text(SAVED)
    editor = FakeEditor(buffers=Buffers(texts={str(path): SAVED}))
    buffers = editor.buffers
    assert buffers is not None

    def decide(options: list[Any]) -> Any:
        """Type into the same line, then allow the edit."""
        buffers.texts[str(path)] = SAVED.replace("two", "two, typed")
        return options[0]

    editor.choose = decide
    attached.plays(
        tool("read_file", path=path.name), edit(path.name, "two\n", "TWO\n"), says("Oh.")
    )
    async with connected(attached.root, editor) as run:
        made = await run.new()
        await run.prompt(made.session_id, "Edit.")
    assert buffers.texts[str(path)] == SAVED.replace("two", "two, typed")
    assert ("write", path.name) not in buffers.asked


@pytest.mark.parametrize("raw", ["a\r\nb\r\n", "\ufeffa\r\nb\r\n", "a\nb\n"], ids=repr)
async def test_line_ends_and_marks_of_the_buffer_stay(attached: Terminal, raw: str) -> None:
    path = attached.root / f"ends-{len(raw)}.txt"
    path.write_bytes(b"a\r\nb\r\n")
    editor = typed(path, raw)
    attached.plays(tool("read_file", path=path.name), edit(path.name, "b", "c"), says("Done."))
    async with connected(attached.root, editor) as run:
        made = await run.new()
        await run.prompt(made.session_id, "Edit.")
    assert editor.buffers is not None
    assert editor.buffers.texts[str(path)] == raw.replace("b", "c")


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"refuses": frozenset({"read"})}, "no read today"),
        ({"refuses": frozenset({"write"})}, "no write today"),
    ],
    ids=["read", "write"],
)
async def test_what_the_editor_refuses_is_not_done_on_the_disk(
    attached: Terminal, how: Any, said: str
) -> None:
    path = attached.root / f"refused-{len(said)}.txt"
    path.write_text(SAVED)
    editor = typed(path, **how)
    attached.plays(
        tool("read_file", path=path.name),
        edit(path.name, "two", "TWO"),
        says("It does not work."),
    )
    async with connected(attached.root, editor) as run:
        made = await run.new()
        await run.prompt(made.session_id, "Edit.")
    assert said in results(attached)
    assert editor.buffers is not None
    assert (path.read_text(), editor.buffers.texts[str(path)]) == (SAVED, TYPED)


async def test_an_editor_that_closes_while_it_writes_ends_the_agent(untitled: Terminal) -> None:
    path = untitled.root / "closing.txt"
    path.write_text(SAVED)
    editor = typed(path, hangs=frozenset({"write"}))
    assert editor.buffers is not None
    untitled.plays(tool("read_file", path=path.name), edit(path.name, "two", "TWO"), says("Done."))
    async with connected(untitled.root, editor) as run:  # checks that it exits with 0
        made = await run.new()
        turn = asyncio.create_task(run.prompt(made.session_id, "Edit."))
        await editor.buffers.started.wait()
        assert run.process.stdin is not None
        run.process.stdin.close()
        async with asyncio.timeout(20):
            await run.process.wait()
        turn.cancel()
    assert path.read_text() == SAVED


async def test_notebooks_binary_and_outside_files_are_not_asked_for(untitled: Terminal) -> None:
    (untitled.root / "a.ipynb").write_text(notebook(("a", "x = 1")))
    (untitled.root / "a.bin").write_bytes(b"\0\1\2")
    (untitled.root / ".env").write_text("KEY=1")
    outside = untitled.root.parent / "outside.txt"
    outside.write_text("outside")
    editor = FakeEditor(buffers=Buffers())
    names = ("a.ipynb", "a.bin", ".env", "missing.txt", "../outside.txt")
    untitled.plays(*[tool("read_file", path=name) for name in names], says("Done."))
    async with connected(untitled.root, editor) as run:
        made = await run.new()
        await run.prompt(made.session_id, "Read.")
    assert editor.buffers is not None
    assert editor.buffers.asked == []


async def test_the_editor_gets_the_names_of_its_own_folder(untitled: Terminal) -> None:
    (untitled.root / "a.txt").write_text(SAVED)
    link = untitled.root.parent / "link"
    link.symlink_to(untitled.root)
    editor = typed(link / "a.txt")
    untitled.plays(tool("read_file", path="a.txt"), says("Done."))
    async with connected(untitled.root, editor) as run:
        made = await run.agent.new_session(cwd=str(link), mcp_servers=[])
        await run.prompt(made.session_id, "Read.")
    assert "five, typed" in results(untitled)
