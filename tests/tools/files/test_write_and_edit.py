"""Making, writing and editing files."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from jupyter_ai_shoulders.files.base import (
    ChangeOrigin,
    TextEditApplied,
    TextEditConflict,
    TextSnapshot,
)
from jupyter_ai_shoulders.tools.editing.diff import (
    COMPARED_LINES,
    bounded_diff,
    parse_problem,
    write_warnings,
)
from jupyter_ai_shoulders.wire.ids import Version
from jupyter_ai_shoulders.wire.versions import ABSENT, text_version
from tests.tools.file_conversation import FileConversation
from tests.tools.notebook_conversation import text_of


async def test_file_is_made_with_its_folders(files: FileConversation):
    result = await files.call("create_file", "out/new/a.md", content="# Hello\n")
    assert text_of(result) == "out/new/a.md was made (1 lines)."
    assert files.here.read("out/new/a.md") == b"# Hello\n"
    assert files.here.states()[-1] == ("create", "out/new/a.md", "done")
    assert files.seen == {("out/new/a.md", None): text_version("# Hello\n")}


async def test_file_that_was_written_may_be_written_and_edited_again(files: FileConversation):
    await files.call("write_file", "a.txt", content="one\ntwo\n")
    await files.call("edit_file", "a.txt", old_string="two", new_string="2")
    result = await files.call("write_file", "a.txt", content="three\n")
    assert result.envelope.data == {"path": "a.txt", "before": "one\n2\n", "after": "three\n"}
    assert files.here.read("a.txt") == b"three\n"


async def test_edit_replaces_one_exact_place_and_shows_the_diff(files: FileConversation):
    files.here.write("a.py", "x = 1\ny = 2\n")
    await files.call("read_file", "a.py")
    result = await files.call("edit_file", "a.py", old_string="y = 2", new_string="y = 3")
    assert text_of(result) == "a.py was changed.\n@@ -1,2 +1,2 @@\n x = 1\n-y = 2\n+y = 3"
    assert files.here.read("a.py") == b"x = 1\ny = 3\n"
    [told] = files.here.witness.told
    assert (told.before, told.after) == ("x = 1\ny = 2\n", "x = 1\ny = 3\n")


async def test_edit_of_all_places(files: FileConversation):
    files.here.write("a.py", "a + a\na\n")
    await files.call("read_file", "a.py")
    await files.call("edit_file", "a.py", old_string="a", new_string="b", replace_all=True)
    assert files.here.read("a.py") == b"b + b\nb\n"


async def test_edit_keeps_encoding_line_ends_and_mode(files: FileConversation):
    path = files.here.write("a.txt", "größe\r\nzwei\r\n".encode("cp1252"))
    path.chmod(0o640)
    await files.call("read_file", "a.txt")
    await files.call("edit_file", "a.txt", old_string="zwei\n", new_string="drei\nvier\n")
    assert files.here.read("a.txt") == "größe\r\ndrei\r\nvier\r\n".encode("cp1252")
    assert path.stat().st_mode & 0o777 == 0o640


async def test_part_that_was_read_may_be_edited(files: FileConversation):
    files.here.write("a.txt", "".join(f"line {number}\n" for number in range(5_000)))
    await files.call("read_file", "a.txt", start_line=4_000, end_line=4_010)
    result = await files.call("edit_file", "a.txt", old_string="line 4005\n", new_string="")
    assert result.ok
    assert b"line 4005\n" not in files.here.read("a.txt")


async def test_text_that_is_there_already_changes_nothing(files: FileConversation):
    files.here.write("a.txt", "one\n")
    await files.call("read_file", "a.txt")
    result = await files.call("write_file", "a.txt", content="one\r\n")
    assert "already reads so" in text_of(result)
    assert files.here.states() == []


async def test_halves_of_characters_are_written_as_replacement_signs(files: FileConversation):
    result = await files.call("create_file", "a.txt", content="a\ud800b")
    assert files.here.read("a.txt") == "a\ufffdb".encode()
    assert result.after_version == text_version("a\ufffdb")


async def test_dry_run_tells_the_change_and_makes_none(files: FileConversation):
    files.here.write("a.py", "x = 1\n")
    await files.call("read_file", "a.py")
    known = dict(files.seen)
    result = await files.call(
        "edit_file", "a.py", old_string="x = 1", new_string="x = (", dry_run=True
    )
    assert result.ok
    assert "a.py would be changed; nothing was changed." in text_of(result)
    assert "+x = (" in text_of(result)
    assert "Risk: It cannot be parsed any more: line 1: '(' was never closed." in text_of(result)
    assert result.envelope.warning == "It cannot be parsed any more: line 1: '(' was never closed."
    assert files.here.read("a.py") == b"x = 1\n"
    assert files.here.states() == []
    assert files.seen == known


async def test_dry_run_of_a_new_file_makes_none(files: FileConversation):
    result = await files.call("create_file", "new/a.txt", content="one\n", dry_run=True)
    assert "new/a.txt would be made; nothing was changed." in text_of(result)
    assert files.here.names() == []
    assert files.seen == {}


async def test_dry_run_asks_nobody_and_expects_nothing(files: FileConversation):
    subject = await files.subject("write_file", "a.txt", content="x", dry_run=True)
    assert subject.dry_run
    assert subject.title == "Create file (dry run)"
    assert subject.effect.expected_version is None


async def test_dry_run_names_hard_links_and_removed_lines(files: FileConversation):
    path = files.here.write("a.txt", "".join(f"{number}\n" for number in range(20)))
    os.link(path, files.here.root / "b.txt")
    await files.call("read_file", "a.txt")
    result = await files.call("write_file", "a.txt", content="1\n", dry_run=True)
    assert "of 20 lines are removed or replaced." in (result.envelope.warning or "")
    assert "The file has 2 names (hard links)." in (result.envelope.warning or "")


async def test_new_file_is_shown_with_its_text_and_what_tells_a_crash(files: FileConversation):
    subject = await files.subject("create_file", "src/a.py", content="x = 1\n")
    assert (subject.title, subject.target_label, subject.preview, subject.language) == (
        "Create file",
        "a.py",
        "x = 1\n",
        "python",
    )
    assert subject.undoable
    assert not subject.in_page
    assert subject.effect.before_version == ABSENT
    assert subject.effect.expected_version == text_version("x = 1\n")


async def test_edit_is_shown_with_its_diff_and_both_versions(files: FileConversation):
    files.here.write("a.py", "x = 1\n")
    subject = await files.subject("edit_file", "a.py", old_string="1", new_string="2")
    assert subject.title == "Edit file"
    assert subject.preview == "@@ -1 +1 @@\n-x = 1\n+x = 2"
    assert subject.effect.before_version == text_version("x = 1\n")
    assert subject.effect.expected_version == text_version("x = 2\n")
    assert subject.always_ask_reason is None


async def test_change_of_a_hard_linked_file_asks(files: FileConversation):
    path = files.here.write("a.txt", "one\n")
    os.link(path, files.here.root / "b.txt")
    for tool, arguments in (
        ("write_file", {"content": "x"}),
        ("edit_file", {"old_string": "one", "new_string": "two"}),
        ("delete_file", {}),
        ("rename_file", {"new_path": "c.txt"}),
    ):
        subject = await files.subject(tool, "a.txt", **arguments)
        assert "2 names (hard links)" in (subject.always_ask_reason or ""), tool


async def test_large_texts_are_told_by_their_diff(files: FileConversation):
    text = "".join(f"line {number}\n" for number in range(15_000))
    await files.call("create_file", "a.txt", content=text)
    result = await files.call("edit_file", "a.txt", old_string="line 14999", new_string="last")
    assert isinstance(result.envelope.data, dict)
    assert set(result.envelope.data) == {"path", "diff"}
    assert "+last" in str(result.envelope.data["diff"])


def test_diff_of_very_long_texts_is_coarse_and_bounded():
    before = "".join(f"{number}\n" for number in range(COMPARED_LINES))
    after = before.replace("\n700\n", "\nseven hundred\n")
    assert bounded_diff(before, after) == "@@ -701,1 +701,1 @@\n-700\n+seven hundred"
    longer = bounded_diff(before, before + "x")
    assert longer == "@@ -20001,0 +20001,1 @@\n+x\n\\ No newline at end of file"
    assert len(bounded_diff(before, "x" * 1_000_000)) < 60_000


RISKS: dict[str, tuple[str, str | None, str, list[str]]] = {
    "nothing is left": ("a.txt", "one\n", " ", ["Nothing is left in the file."]),
    "data that cannot be read": ("a.json", "{}", "{", ["It cannot be parsed any more: Expecting"]),
    "it could not be read before": ("a.json", "{,", "{", []),
    "a setting file": ("a.toml", "a = 1", "a = ", ["It cannot be parsed any more: Invalid value"]),
    "a new program": ("a.py", None, "x = (", ["line 1: '(' was never closed."]),
    "plain text": ("a.txt", "one\ntwo\n", "one\n2\n", []),
}


@pytest.mark.parametrize(("path", "before", "after", "found"), RISKS.values(), ids=RISKS.keys())
def test_risks_of_a_change(path: str, before: str | None, after: str, found: list[str]):
    told = write_warnings(path, before, after)
    assert len(told) == len(found)
    assert all(text.startswith(start) for text, start in zip(told, found, strict=True))


def test_program_nested_very_deeply_does_not_stop_the_check():
    assert parse_problem("a.py", "(" * 50_000) is not None
    assert parse_problem("a.json", "[" * 100_000) is not None


class Open:
    """``TextDocuments`` of a page that has the files open with unsaved text."""

    def __init__(self, files: FileConversation) -> None:
        self._texts = files.here.texts

    def in_page(self, path: str) -> bool:
        return path == "a.txt"

    async def read(self, path: str) -> TextSnapshot:
        return replace(await self._texts.read(path), backend="live", dirty=True)

    async def replace(
        self, path: str, text: str, expected: Version, origin: ChangeOrigin
    ) -> TextEditApplied | TextEditConflict:
        outcome = await self._texts.replace(path, text, expected, origin)
        assert isinstance(outcome, TextEditApplied)
        return replace(outcome, dirty=True)


async def test_edit_of_an_open_file_says_that_it_is_not_saved(files: FileConversation):
    files.here.write("a.txt", "one\n")
    open_files = FileConversation(files.here, files.notebooks, texts=Open(files))
    read = await open_files.call("read_file", "a.txt")
    assert "open in the page with unsaved changes, which are included" in text_of(read)
    subject = await open_files.subject("edit_file", "a.txt", old_string="one", new_string="two")
    assert subject.in_page
    dry = await open_files.call(
        "edit_file", "a.txt", old_string="one", new_string="two", dry_run=True
    )
    assert "open with unsaved changes" in (dry.envelope.warning or "")
    result = await open_files.call("edit_file", "a.txt", old_string="one", new_string="two")
    assert "It has unsaved changes in the page; it is not saved yet." in text_of(result)
    created = await open_files.subject("create_file", "b.txt", content="x")
    assert not created.in_page
