"""Text files open in pages: read and changed there, never on disk below unsaved text."""

from collections.abc import Generator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, NotFound, PolicyRefusal
from jupyter_ai_shoulders.files.base import TextEditApplied, TextEditConflict, TextSnapshot
from jupyter_ai_shoulders.files.open_files.open_text_files import PageTimeouts
from jupyter_ai_shoulders.testing.memory_file_changes import ObservedChange
from jupyter_ai_shoulders.wire import frames
from jupyter_ai_shoulders.wire.ids import OperationId
from jupyter_ai_shoulders.wire.versions import text_version
from tests.files.file_workspace import origin
from tests.files.open_files.fake_text_page import TextPage, TextWorkspace, text_workspace

ONE = OperationId("operation_1")


@pytest.fixture
def workspace(tmp_path: Path) -> Generator[TextWorkspace]:
    with text_workspace(tmp_path, PageTimeouts(answer=30, saved=30)) as workspace:
        yield workspace


@pytest.fixture
def hasty(tmp_path: Path) -> Generator[TextWorkspace]:
    """A server that does not wait for pages."""
    with text_workspace(tmp_path, PageTimeouts(answer=0, saved=0)) as workspace:
        yield workspace


# reading


async def test_an_open_text_is_read_from_its_page(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a = 1\n")
    page.type("a = 2\n")
    assert await workspace.read() == TextSnapshot(
        path="a.py",
        text="a = 2\n",
        version=text_version("a = 2\n"),
        backend="live",
        dirty=True,
        encoding="utf-8",
        newline="\n",
    )
    assert workspace.texts.in_page("a.py")


async def test_a_text_that_no_page_has_is_read_from_the_disk(workspace: TextWorkspace) -> None:
    workspace.here.write("a.py", "a = 1\n")
    snapshot = await workspace.read()
    assert (snapshot.backend, snapshot.text, snapshot.dirty) == ("disk", "a = 1\n", False)
    assert not workspace.texts.in_page("a.py")


async def test_line_ends_of_an_open_text_are_those_of_its_file(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a\r\nb\r\n")
    page.type("a\nb\n")  # the lab shows newline characters only
    snapshot = await workspace.read()
    assert (snapshot.text, snapshot.newline) == ("a\nb\n", "\r\n")


async def test_a_secret_is_not_read_from_a_page_either(workspace: TextWorkspace) -> None:
    workspace.page(".env", text="KEY=1\n")
    with pytest.raises(PolicyRefusal):
        await workspace.read(".env")


async def test_a_text_whose_file_was_deleted_is_still_in_its_page(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a = 1\n")
    page.file.unlink()
    assert (await workspace.read()).text == "a = 1\n"
    page.say(frames.TextClose(path="a.py", discarded=False))
    with pytest.raises(NotFound):
        await workspace.read()


async def test_of_several_pages_the_one_looked_at_last_is_asked(workspace: TextWorkspace) -> None:
    first = workspace.page(text="a\n")
    second = workspace.page(client="page_2")
    first.type("first\n")
    second.type("second\n")
    assert (await workspace.read()).text == "second\n"
    first.say(frames.TextFocus(path="a.py"))
    assert (await workspace.read()).text == "first\n"


# changing


async def test_a_clean_text_is_changed_and_saved_in_its_page(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a = 1\n")
    outcome = await workspace.edit("a = 2\n", before="a = 1\n")
    assert outcome == TextEditApplied(ONE, text_version("a = 1\n"), text_version("a = 2\n"))
    assert (page.text, page.dirty, page.file.read_text()) == ("a = 2\n", False, "a = 2\n")


async def test_a_text_with_unsaved_changes_stays_unsaved(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a = 1\n")
    page.type("a = 1\nb = 1\n")
    await workspace.edit("a = 2\nb = 1\n", before="a = 1\nb = 1\n")
    assert (page.text, page.dirty, page.file.read_text()) == ("a = 2\nb = 1\n", True, "a = 1\n")


async def test_a_change_of_another_text_than_expected_is_a_conflict(
    workspace: TextWorkspace,
) -> None:
    page = workspace.page(text="a = 1\n")
    page.type("a = 9\n")
    outcome = await workspace.edit("a = 2\n", before="a = 1\n")
    assert isinstance(outcome, TextEditConflict)
    assert outcome.current is not None
    assert (outcome.current.text, outcome.current.dirty) == ("a = 9\n", True)
    assert page.text == "a = 9\n"
    assert workspace.here.states() == []


async def test_a_text_that_changes_on_the_way_to_its_page_is_a_conflict(
    workspace: TextWorkspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = workspace.page(text="a = 1\n")

    async def typed_meanwhile() -> None:
        page.type("a = 9\n")

    monkeypatch.setattr(workspace.here.journal, "sync", typed_meanwhile)
    outcome = await workspace.edit("a = 2\n", before="a = 1\n")
    assert isinstance(outcome, TextEditConflict)
    assert page.text == "a = 9\n"
    assert workspace.here.states() == [("edit", "a.py", "failed")]


async def test_a_read_only_text_is_refused(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a = 1\n")
    page.writable = False
    with pytest.raises(PolicyRefusal):
        await workspace.edit("a = 2\n", before="a = 1\n")
    assert workspace.here.states() == [("edit", "a.py", "failed")]
    assert workspace.here.witness.told == []


async def test_a_save_that_takes_long_is_left_to_the_page(tmp_path: Path) -> None:
    with text_workspace(tmp_path, PageTimeouts(answer=30, saved=0)) as workspace:
        page = workspace.page(text="a = 1\n")
        page.slow_to_save = True
        assert isinstance(await workspace.edit("a = 2\n", before="a = 1\n"), TextEditApplied)
        assert (page.text, page.dirty) == ("a = 2\n", True)


# the log and the review


async def test_a_change_is_logged_before_and_told_to_the_review_after(
    workspace: TextWorkspace,
) -> None:
    workspace.page(text="a\r\nb\r\n").type("a\nb\n")
    await workspace.edit("a\nB\n", before="a\nb\n")
    journal = workspace.here.journal
    change = journal.change(ONE)
    assert (workspace.here.states(), journal.synced) == ([("edit", "a.py", "done")], 1)
    assert change.origin == origin()
    assert change.before is not None
    assert change.after is not None
    kept = [workspace.here.blobs.get(blob) for blob in (change.before, change.after)]
    assert kept == [b"a\r\nb\r\n", b"a\r\nB\r\n"]  # what a save would write
    assert workspace.here.witness.told == [
        ObservedChange(origin(), "a.py", None, "a\nb\n", "a\nB\n")
    ]


# pages that do not answer, and absent pages


async def test_a_page_that_does_not_answer_is_not_written_underneath(hasty: TextWorkspace) -> None:
    page = hasty.page(text="a = 1\n")
    page.silent = True
    with pytest.raises(Conflict) as raised:
        await hasty.edit("a = 2\n", before="a = 1\n")
    assert raised.value.info.code == "page_not_responding"
    assert page.file.read_text() == "a = 1\n"


async def test_a_change_made_after_its_time_was_up_is_settled_by_what_the_page_says(
    workspace: TextWorkspace,
) -> None:
    page = workspace.page(text="a = 1\n")
    await _in_doubt(workspace, page)
    assert workspace.here.states() == [("edit", "a.py", "begun")]
    (late,) = [frame for frame in page.heard if isinstance(frame, frames.TextApply)]
    page.apply(late)
    assert workspace.here.states() == [("edit", "a.py", "done")]
    assert workspace.here.witness.told == [
        ObservedChange(origin(), "a.py", None, "a = 1\n", "a = 2\n")
    ]


async def test_a_change_that_was_never_made_is_settled_once_it_cannot_be_any_more(
    workspace: TextWorkspace,
) -> None:
    page = workspace.page(text="a = 1\n")
    await _in_doubt(workspace, page)
    page.announce()
    assert workspace.here.states() == [("edit", "a.py", "begun")]
    await workspace.clock.advance(10)
    page.announce()
    assert workspace.here.states() == [("edit", "a.py", "failed")]


async def _in_doubt(workspace: TextWorkspace, page: TextPage) -> None:
    """Request a change and disconnect the page before it answers; it returns at once."""
    page.breaks_off = True
    with pytest.raises(Conflict) as raised:
        await workspace.edit("a = 2\n", before="a = 1\n")
    assert raised.value.info.code == "page_not_responding"
    page.back()


async def test_nothing_is_written_below_unsaved_text_of_a_page_that_is_away(
    workspace: TextWorkspace,
) -> None:
    page = workspace.page(text="a = 1\n")
    page.type("a = 1  # typed\n")
    page.leave()
    snapshot = await workspace.read()
    assert (snapshot.text, snapshot.dirty, snapshot.backend) == ("a = 1\n", True, "disk")
    assert workspace.live.unsaved("a.py") == ["a.py"]
    with pytest.raises(Conflict) as raised:
        await workspace.edit("a = 2\n", before="a = 1\n")
    assert raised.value.info.code == "page_not_responding"
    await workspace.clock.advance(601)
    assert isinstance(await workspace.edit("a = 2\n", before="a = 1\n"), TextEditApplied)
    assert page.file.read_text() == "a = 2\n"


async def test_unsaved_text_that_was_read_before_it_was_announced_is_known(
    workspace: TextWorkspace,
) -> None:
    page = workspace.page(text="a = 1\n")
    page.text, page.dirty = "a = 1  # typed\n", True
    assert (await workspace.read()).dirty
    page.leave()
    with pytest.raises(Conflict) as raised:
        await workspace.edit("a = 2\n", before="a = 1\n")
    assert raised.value.info.code == "page_not_responding"
    assert page.file.read_text() == "a = 1\n"


async def test_a_page_that_is_away_with_nothing_unsaved_is_not_waited_for(
    workspace: TextWorkspace,
) -> None:
    page = workspace.page(text="a = 1\n")
    page.leave()
    await workspace.edit("a = 2\n", before="a = 1\n")
    assert page.file.read_text() == "a = 2\n"


async def test_a_page_that_is_loaded_anew_takes_the_place_of_one_away(
    workspace: TextWorkspace,
) -> None:
    workspace.page(text="a = 1\n").type("a = 1  # typed\n")
    workspace.pages[next(iter(workspace.pages))].leave()
    workspace.page(client="page_2")
    assert workspace.live.unsaved("") == []
    assert (await workspace.read()).backend == "live"


async def test_closing_gives_the_file_back_to_the_disk(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a = 1\n")
    page.type("a = 1  # typed\n")
    page.say(frames.TextClose(path="a.py", discarded=True))
    assert (await workspace.read()).backend == "disk"


# others write the file, or move it


async def test_pages_are_told_when_another_page_saves(workspace: TextWorkspace) -> None:
    first = workspace.page(text="a = 1\n")
    second = workspace.page(client="page_2")
    second.type("a = 22\n")
    second.save()
    assert (first.told_to_take_up(), second.told_to_take_up()) == (1, 0)


async def test_a_page_that_read_an_older_file_is_told(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a = 1\n")
    assert page.told_to_take_up() == 0
    page.saved_at = "2020-01-01T00:00:00+00:00"
    page.announce()
    assert page.told_to_take_up() == 1


async def test_a_file_written_by_others_is_seen(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a = 1\n")
    assert (workspace.live.open_paths(), workspace.live.is_behind("a.py")) == ({"a.py"}, False)
    page.saved_at = "2020-01-01T00:00:00+00:00"
    page.tell()
    assert workspace.live.is_behind("a.py")
    workspace.live.wrote("a.py")
    assert page.told_to_take_up() == 1


async def test_a_rename_in_a_page_is_followed(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a = 1\n")
    page.file.rename(page.file.with_name("b.py"))
    page.file, page.path = page.file.with_name("b.py"), "b.py"
    page.say(frames.TextRename(path="a.py", new_path="b.py"))
    page.type("a = 2\n")
    assert (await workspace.read("b.py")).text == "a = 2\n"
    assert not workspace.texts.in_page("a.py")


async def test_every_page_hears_of_files_that_moved_or_went(workspace: TextWorkspace) -> None:
    page = workspace.page(text="a = 1\n")
    other = workspace.page("b.py", client="page_2", text="b = 1\n")
    await workspace.live.moved("a.py", "c.py")
    await workspace.live.removed("b.py")
    said = [frames.FileMoved(path="a.py", new_path="c.py"), frames.FileRemoved(path="b.py")]
    assert (page.heard, other.heard) == (said, said)


async def test_a_page_that_was_away_is_led_to_where_its_file_is_now(
    workspace: TextWorkspace,
) -> None:
    page = workspace.page("old/a.py", text="a = 1\n")
    page.type("a = 1  # typed\n")
    page.leave()
    (workspace.here.root / "old").rename(workspace.here.root / "new")
    workspace.live.renamed("old", "new")
    assert workspace.live.unsaved("") == ["new/a.py"]
    with pytest.raises(Conflict):
        await workspace.edit("a = 2\n", before="a = 1\n", path="new/a.py")
    page.back()
    assert page.heard == [frames.FileMoved(path="old/a.py", new_path="new/a.py")]
    page.say(frames.TextRename(path="old/a.py", new_path="new/a.py"))
    page.path = "new/a.py"
    assert (await workspace.read("new/a.py")).text == "a = 1  # typed\n"


async def test_a_file_that_has_the_name_of_a_moved_one_is_its_own(workspace: TextWorkspace) -> None:
    workspace.here.write("b.py", "b = 1\n")
    workspace.live.renamed("a.py", "b.py")
    assert workspace.page(text="new\n").heard == []


async def test_nothing_is_taken_back_below_unsaved_text_of_a_page_away(
    workspace: TextWorkspace,
) -> None:
    workspace.here.write("a.py", "a = 1\n")
    await workspace.edit("a = 2\n", before="a = 1\n")
    workspace.here.pages.dirty.add("a.py")
    with pytest.raises(Conflict):
        await workspace.here.undo.undo(ONE, origin("turn_2"))
    assert workspace.here.read("a.py") == b"a = 2\n"
    workspace.here.pages.dirty.clear()
    await workspace.here.undo.undo(ONE, origin("turn_2"))
    assert workspace.here.read("a.py") == b"a = 1\n"


async def test_an_announcement_of_an_earlier_epoch_counts_for_nothing(
    workspace: TextWorkspace,
) -> None:
    page = workspace.page(text="a = 1\n")
    page.announce()
    page.epoch = 1
    page.type("old\n")
    assert workspace.live.unsaved("a.py") == []


async def test_an_open_text_is_changed_in_the_page_that_sent_the_message(
    workspace: TextWorkspace,
) -> None:
    first = workspace.page(text="a = 1\n")
    second = workspace.page(client="page_2")
    workspace.acting.set_client(first.client)
    await workspace.edit("a = 2\n", before="a = 1\n")
    assert first.text == "a = 2\n"
    assert not any(isinstance(frame, frames.TextApply) for frame in second.heard)
    first.leave()
    await workspace.edit("a = 3\n", before=second.text)
    assert second.text == "a = 3\n"
