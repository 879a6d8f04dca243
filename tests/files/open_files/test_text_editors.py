"""Editors are asked for text files that they do not announce, in their own work only."""

from collections.abc import Generator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.files.base import TextEditApplied
from jupyter_ai_shoulders.files.open_files.open_text_files import PageTimeouts
from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.ids import ClientId
from tests.files.open_files.fake_text_page import TextPage, TextWorkspace, text_workspace

EDITOR = ClientId("editor_1")


@pytest.fixture
def workspace(tmp_path: Path) -> Generator[TextWorkspace]:
    with text_workspace(tmp_path, PageTimeouts(answer=30, editor=30, saved=30)) as workspace:
        yield workspace


def editor_of(
    workspace: TextWorkspace,
    path: str = "a.py",
    folder: str = "",
    text: str = "a = 1\n",
    *,
    answering: bool = True,
) -> TextPage:
    """Connect an editor whose buffer has unsaved text; the file has ``a = 0``."""
    workspace.here.write(path, "a = 0\n")
    page = TextPage(workspace.live, workspace.here.root / path, EDITOR, path, text, dirty=True)
    workspace.pages[EDITOR] = page
    workspace.live.connected(EDITOR)
    page.say(frames.TextEditor(folder=folder, answering=answering))
    return page


@pytest.mark.parametrize(
    ("acting", "answering", "asked"),
    [
        (EDITOR, True, True),
        (EDITOR, False, True),
        (None, True, True),
        (None, False, False),
        (ClientId("page_2"), True, False),
    ],
    ids=["its own", "its own later", "no page's", "no page's later", "another page's"],
)
async def test_an_editor_is_asked_in_its_own_work(
    workspace: TextWorkspace, acting: ClientId | None, answering: bool, asked: bool
) -> None:
    editor_of(workspace, answering=answering)
    workspace.acting.set_client(acting)
    snapshot = await workspace.read()
    assert (snapshot.text, snapshot.dirty) == (("a = 1\n", True) if asked else ("a = 0\n", False))
    assert not workspace.texts.in_page("a.py"), "the editor does not show what was changed"


@pytest.mark.parametrize(
    ("path", "folder", "asked"),
    [("src/a.py", "src", True), ("a.py", "src", False), ("srcs/a.py", "src", False)],
    ids=["below", "above", "beside"],
)
async def test_an_editor_is_asked_for_files_of_its_folder(
    workspace: TextWorkspace, path: str, folder: str, asked: bool
) -> None:
    editor_of(workspace, path, folder)
    assert (await workspace.read(path)).dirty == asked


async def test_unsaved_text_of_an_editor_is_an_open_document_for_others_until_it_is_saved(
    workspace: TextWorkspace,
) -> None:
    editor = editor_of(workspace)
    workspace.acting.set_client(EDITOR)
    outcome = await workspace.edit("a = 2\n", before="a = 1\n")
    assert isinstance(outcome, TextEditApplied)
    assert outcome.dirty
    workspace.acting.set_client(ClientId("page_2"))
    assert (await workspace.read()).text == "a = 2\n"
    assert workspace.live.unsaved("") == ["a.py"]
    editor.save()
    assert not (await workspace.read()).dirty
    assert (workspace.live.unsaved(""), (await workspace.read()).backend) == ([], "disk")


async def test_nothing_is_written_below_unsaved_text_of_an_editor_that_left(
    workspace: TextWorkspace,
) -> None:
    editor = editor_of(workspace)
    workspace.acting.set_client(EDITOR)
    await workspace.read()
    editor.leave()
    with pytest.raises(Conflict):
        await workspace.edit("a = 2\n", before="a = 0\n")


async def test_a_file_that_is_not_on_the_disk_is_not_found(workspace: TextWorkspace) -> None:
    editor_of(workspace).file.unlink()
    with pytest.raises(NotFound):
        await workspace.read()


async def test_a_page_that_has_the_file_open_is_asked_by_work_of_no_page(
    workspace: TextWorkspace,
) -> None:
    editor_of(workspace)
    workspace.page().type("a = 3\n")
    assert (await workspace.read()).text == "a = 3\n"
    workspace.acting.set_client(EDITOR)
    assert (await workspace.read()).text == "a = 1\n"


async def test_a_change_that_an_editor_reports_too_late_is_settled(tmp_path: Path) -> None:
    with text_workspace(tmp_path, PageTimeouts(editor=0.05)) as workspace:
        editor = editor_of(workspace)
        editor.ignores_changes = True
        with pytest.raises(Conflict) as raised:
            await workspace.edit("a = 2\n", before="a = 1\n")
        assert raised.value.info.code == "page_not_responding"
        assert workspace.here.states() == [("edit", "a.py", "begun")]
        (late,) = [frame for frame in editor.heard if isinstance(frame, frames.TextApply)]
        editor.apply(late)
        assert workspace.here.states() == [("edit", "a.py", "done")]
