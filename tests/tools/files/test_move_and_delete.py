"""Renaming, moving, copying and deleting files."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.versions import ABSENT, text_version
from tests.tools.file_conversation import FileConversation, notebook
from tests.tools.notebook_conversation import text_of


async def test_renamed_file_is_known_by_its_new_name(files: FileConversation):
    files.here.write("a.txt", "one\n")
    await files.call("read_file", "a.txt")
    result = await files.call("rename_file", "a.txt", new_path="b.txt")
    assert text_of(result) == "a.txt is now called b.txt."
    assert files.here.names() == ["b.txt"]
    assert (await files.call("edit_file", "b.txt", old_string="one", new_string="two")).ok


async def test_file_is_moved_into_a_folder_that_is_there(files: FileConversation):
    files.here.write("a.txt", "one\n")
    files.here.write("data/x.txt", "x")
    result = await files.call("move_file", "a.txt", new_path="data")
    assert text_of(result) == "a.txt is now at data/a.txt."
    await files.call("move_file", "data/a.txt", new_path="new/")
    assert files.here.names() == ["data/", "data/x.txt", "new/", "new/a.txt"]


async def test_folder_is_moved_with_what_is_in_it(files: FileConversation):
    files.here.write("old/a.txt", "one\n")
    await files.call("read_file", "old/a.txt")
    await files.call("rename_file", "old", new_path="new")
    assert files.here.names() == ["new/", "new/a.txt"]
    assert (await files.call("edit_file", "new/a.txt", old_string="one", new_string="two")).ok


async def test_notebook_is_renamed_with_the_cells_that_were_read(files: FileConversation):
    files.here.write("n.ipynb", notebook("a = 1"))
    await files.call("read_file", "n.ipynb")
    version = files.seen["n.ipynb", CellId("cell-1")]
    await files.call("rename_file", "n.ipynb", new_path="m.ipynb")
    assert files.here.names() == ["m.ipynb"]
    assert files.seen["m.ipynb", CellId("cell-1")] == version
    assert files.here.pages.moves == [("n.ipynb", "m.ipynb")]


async def test_copy_is_a_file_of_its_own(files: FileConversation):
    files.here.write("a.bin", b"\0\1\2")
    result = await files.call("duplicate_file", "a.bin", new_path="b/c.bin")
    assert text_of(result) == "a.bin was copied to b/c.bin."
    assert files.here.read("b/c.bin") == files.here.read("a.bin") == b"\0\1\2"


async def test_copy_of_a_file_that_was_not_read_is_not_known(files: FileConversation):
    files.here.write("a.txt", "one\n")
    await files.call("duplicate_file", "a.txt", new_path="b.txt")
    result = await files.call("write_file", "b.txt", content="x")
    assert result.envelope.error is not None
    assert result.envelope.error.code == "not_read"


@pytest.mark.parametrize("content", [b"one\n", b"\0\1\2", b""])
async def test_file_that_was_read_goes_to_the_trash(files: FileConversation, content: bytes):
    files.here.write("a.dat", content)
    await files.call("read_file", "a.dat")
    result = await files.call("delete_file", "a.dat")
    assert text_of(result) == "a.dat was deleted; it is in the trash."
    assert files.here.names() == []
    assert files.seen == {("a.dat", None): ABSENT}
    assert files.here.states() == [("delete", "a.dat", "done")]


async def test_deleted_file_may_be_made_again(files: FileConversation):
    files.here.write("a.txt", "one\n")
    await files.call("read_file", "a.txt")
    await files.call("delete_file", "a.txt")
    assert (await files.call("write_file", "a.txt", content="two\n")).ok
    assert files.here.read("a.txt") == b"two\n"


async def test_notebook_that_was_read_may_be_deleted(files: FileConversation):
    files.here.write("n.ipynb", notebook("a = 1", "b = 2"))
    await files.call("read_file", "n.ipynb")
    assert (await files.call("delete_file", "n.ipynb")).ok
    assert files.here.names() == []


async def test_moves_and_deletions_ask_and_can_be_undone(files: FileConversation):
    files.here.write("a.txt", "one\n")
    subject = await files.subject("move_file", "a.txt", new_path="b/a.txt")
    assert (subject.title, subject.target_label) == ("Move file", "a.txt → b/a.txt")
    assert (subject.target.path, subject.target.new_path) == ("a.txt", "b/a.txt")
    assert subject.moves_or_removes
    assert subject.undoable
    subject = await files.subject("delete_file", "a.txt")
    assert subject.moves_or_removes
    assert subject.undoable
    subject = await files.subject("duplicate_file", "a.txt", new_path="b.txt")
    assert not subject.moves_or_removes
    assert subject.undoable


async def test_versions_before_and_after_tell_what_a_crash_left(files: FileConversation):
    files.here.write("a.txt", "one\n")
    version = text_version("one\n")
    for tool, arguments, path in (
        ("rename_file", {"new_path": "b.txt"}, "a.txt"),
        ("delete_file", {}, "b.txt"),
    ):
        before = await files.subject(tool, path, **arguments)
        assert (before.effect.before_version, before.effect.expected_version) == (version, ABSENT)
        files.seen[path, None] = version
        await files.call(tool, path, **arguments)
        after = await files.subject(tool, path, **arguments)
        assert after.effect.before_version == ABSENT
    files.here.write("c.txt", "one\n")
    copy = await files.subject("duplicate_file", "c.txt", new_path="d.txt")
    assert (copy.effect.before_version, copy.effect.expected_version) == (ABSENT, version)
    await files.call("duplicate_file", "c.txt", new_path="d.txt")
    copy = await files.subject("duplicate_file", "c.txt", new_path="d.txt")
    assert copy.effect.before_version == version


async def test_file_that_never_was_cannot_be_moved(files: FileConversation):
    files.here.write("name.txt", "one\n")
    with pytest.raises(NotFound) as error:
        await files.subject("rename_file", "nam.txt", new_path="b.txt")
    assert error.value.info.hint == "Did you mean name.txt?"
