"""Text files on disk: which properties changes keep, and which changes are refused."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import (
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    StateUnavailable,
)
from jupyter_ai_shoulders.files.base import LoggedChange, TextEditApplied, TextEditConflict
from jupyter_ai_shoulders.wire.ids import OperationId, Version
from jupyter_ai_shoulders.wire.versions import file_version
from tests.files.file_workspace import FileWorkspace, origin

FORMS = {
    "utf-8": b"gr\xc3\xbc\xc3\x9f\nb\nc\n",
    "utf-8 with BOM": b"\xef\xbb\xbfgr\xc3\xbc\xc3\x9f\r\nb\r\nc\r\n",
    "utf-16-le with BOM": "\ufeffgrüß\r\nb\r\nc".encode("utf-16-le"),
    "utf-16-be with BOM": "\ufeffgrüß\nb\nc\n".encode("utf-16-be"),
    "utf-32-le with BOM": "\ufeffgrüß\nb\nc\n".encode("utf-32-le"),
    "utf-16-le": "gruess\r\nb\r\nc\r\n".encode("utf-16-le"),
    "cp1252": b"gr\xfc\xdf \x80\rb\rc\r",
    "latin-1": b"gr\xfc\xdf \x81\nb\nc\n",
}


@pytest.mark.parametrize("encoding", FORMS)
async def test_edits_keep_encoding_mark_and_line_ends(here: FileWorkspace, encoding: str) -> None:
    file = here.write("a.txt", FORMS[encoding])
    file.chmod(0o640)
    read = await here.texts.read("a.txt")
    assert (read.encoding, read.backend, read.dirty) == (encoding, "disk", False)
    assert "\r" not in read.text

    applied = await here.texts.replace(
        "a.txt", read.text.replace("b", "beta"), read.version, origin()
    )

    assert isinstance(applied, TextEditApplied)
    codec = encoding.removesuffix(" with BOM")
    assert file.read_bytes() == FORMS[encoding].replace("b".encode(codec), "beta".encode(codec), 1)
    assert file.stat().st_mode & 0o777 == 0o640
    assert applied.after == (await here.texts.read("a.txt")).version


async def test_mixed_line_ends_stay_outside_the_changed_lines(here: FileWorkspace) -> None:
    here.write("a.txt", b"one\r\ntwo\nthree\rfour\r\nfive")
    read = await here.texts.read("a.txt")
    assert (read.text, read.newline) == ("one\ntwo\nthree\nfour\nfive", "\r\n")

    text = "zero\none\nTWO\nthree\nfour\nfive\nsix\n"
    await here.texts.replace("a.txt", text, read.version, origin())

    assert here.read("a.txt") == b"zero\r\none\r\nTWO\nthree\rfour\r\nfive\r\nsix\r\n"


async def test_versions_are_of_the_text_and_of_the_file_where_it_is_plain(
    here: FileWorkspace,
) -> None:
    here.write("unix.txt", "a\nb\n")
    here.write("dos.txt", "a\r\nb\r\n")
    unix, dos = await here.texts.read("unix.txt"), await here.texts.read("dos.txt")
    assert unix.version == dos.version == file_version(b"a\nb\n")


async def test_changes_are_logged_before_they_are_made_and_told_after(here: FileWorkspace) -> None:
    here.write("a.txt", "old\n")
    read = await here.texts.read("a.txt")
    applied = await here.texts.replace("a.txt", "new\n", read.version, origin())
    assert isinstance(applied, TextEditApplied)

    change = here.journal.change(applied.operation_id)
    assert change == LoggedChange(
        "edit",
        "a.txt",
        origin(),
        before_version=read.version,
        after_version=applied.after,
        before=here.blobs.put(b"old\n"),
        after=here.blobs.put(b"new\n"),
        mode=change.mode,
    )
    assert here.states() == [("edit", "a.txt", "done")]
    assert here.journal.synced == 1
    told = here.witness.told[0]
    assert (told.document, told.cell_id, told.before, told.after) == (
        "a.txt",
        None,
        "old\n",
        "new\n",
    )


async def test_a_file_changed_since_it_was_read_is_a_conflict(here: FileWorkspace) -> None:
    here.write("a.txt", "old\n")
    read = await here.texts.read("a.txt")
    here.write("a.txt", "theirs\n")

    outcome = await here.texts.replace("a.txt", "mine\n", read.version, origin())

    assert isinstance(outcome, TextEditConflict)
    assert outcome.current is not None
    assert outcome.current.text == "theirs\n"
    assert here.read("a.txt") == b"theirs\n"
    assert here.states() == []


async def test_two_writers_of_one_version_do_not_overwrite_each_other(here: FileWorkspace) -> None:
    here.write("a.txt", "old\n")
    read = await here.texts.read("a.txt")
    outcomes = await asyncio.gather(
        *(
            here.texts.replace("a.txt", f"{name}\n", read.version, origin())
            for name in ("one", "two", "three")
        )
    )
    won = [outcome for outcome in outcomes if isinstance(outcome, TextEditApplied)]
    assert len(won) == 1
    assert file_version(here.read("a.txt")) == won[0].after


async def test_a_write_in_the_last_moment_is_not_lost(here: FileWorkspace) -> None:
    here.write("a.txt", "old\n")
    read = await here.texts.read("a.txt")
    sync = here.journal.sync

    async def sync_while_somebody_writes() -> None:
        await sync()
        here.write("a.txt", "theirs, at the last moment\n")

    here.journal.sync = sync_while_somebody_writes
    outcome = await here.texts.replace("a.txt", "mine\n", read.version, origin())

    assert isinstance(outcome, TextEditConflict)
    assert here.read("a.txt") == b"theirs, at the last moment\n"
    assert here.states() == [("edit", "a.txt", "failed")]
    assert here.witness.told == []


async def test_nothing_is_changed_when_the_log_cannot_be_written(here: FileWorkspace) -> None:
    here.write("a.txt", "old\n")
    read = await here.texts.read("a.txt")

    def full(change: LoggedChange) -> OperationId:
        raise StateUnavailable("no space", code="disk_full")

    here.journal.begin = full
    with pytest.raises(StateUnavailable):
        await here.texts.replace("a.txt", "new\n", read.version, origin())
    assert here.read("a.txt") == b"old\n"


async def test_a_cancelled_writer_leaves_when_the_file_is_written(here: FileWorkspace) -> None:
    here.write("a.txt", "old\n")
    read = await here.texts.read("a.txt")
    began = asyncio.Event()
    sync = here.journal.sync

    async def noticed() -> None:
        began.set()
        await sync()

    here.journal.sync = noticed
    task = asyncio.create_task(here.texts.replace("a.txt", "new\n", read.version, origin()))
    await began.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert here.read("a.txt") == b"new\n"
    assert here.states() == [("edit", "a.txt", "done")]


async def test_characters_the_encoding_lacks_are_refused(here: FileWorkspace) -> None:
    here.write("a.txt", b"gr\xfc\xdf\n")
    read = await here.texts.read("a.txt")
    with pytest.raises(InvalidRequest, match=r"cp1252, which has no '→' \(U\+2192\)"):
        await here.texts.replace("a.txt", "a → b\n", read.version, origin())
    assert here.read("a.txt") == b"gr\xfc\xdf\n"
    assert here.states() == []


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("missing.txt", NotFound),
        ("../outside.txt", InvalidRequest),
        ("folder", InvalidRequest),
        ("", InvalidRequest),
        ("picture.png", InvalidRequest),
        ("broken.txt", InvalidRequest),
        (".env", PolicyRefusal),
        ("id_rsa", PolicyRefusal),
        (".ssh/config", PolicyRefusal),
        (".ssh", PolicyRefusal),
        (".shoulders/state.db", PolicyRefusal),
        ("to_secret.txt", PolicyRefusal),
    ],
)
async def test_what_is_no_open_text_file_is_refused(
    here: FileWorkspace, path: str, error: type[Exception]
) -> None:
    (here.root / "folder").mkdir()
    here.write("picture.png", b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR")
    here.write("broken.txt", b"\xff\xfea\x00\x00\xd8")
    for secret in (".env", "id_rsa", ".ssh/config", ".shoulders/state.db"):
        here.write(secret, "key")
    (here.root / "to_secret.txt").symlink_to(".env")
    with pytest.raises(error):
        await here.texts.read(path)
    with pytest.raises(error):
        await here.texts.replace(path, "x", Version("v"), origin())
    assert here.read(".env") == b"key"


async def test_large_files_are_refused(here: FileWorkspace) -> None:
    with (here.root / "large.csv").open("wb") as file:
        file.truncate((32 << 20) + 1)
    with pytest.raises(InvalidRequest, match="32 MB"):
        await here.texts.read("large.csv")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
async def test_folders_one_may_not_write_to_are_named(here: FileWorkspace) -> None:
    file = here.write("folder/a.txt", "old\n")
    read = await here.texts.read("folder/a.txt")
    file.parent.chmod(0o500)
    try:
        with pytest.raises(PolicyRefusal, match="does not let this server"):
            await here.texts.replace("folder/a.txt", "new\n", read.version, origin())
    finally:
        file.parent.chmod(0o700)
    assert here.states() == [("edit", "folder/a.txt", "failed")]


async def test_exact_bytes_go_back_only_over_what_was_expected(here: FileWorkspace) -> None:
    odd = b"a\r\nb\nc\r"
    file = here.write("a.txt", odd)
    read = await here.texts.read("a.txt")
    await here.texts.replace("a.txt", "x\ny", read.version, origin())
    now = here.blobs.put(file.read_bytes())

    wrong = await here.texts.restore_bytes("a.txt", odd, here.blobs.put(b"another"), origin())
    assert isinstance(wrong, TextEditConflict)
    right = await here.texts.restore_bytes("a.txt", odd, now, origin())

    assert isinstance(right, TextEditApplied)
    assert file.read_bytes() == odd
    assert Path(file).name == "a.txt"
