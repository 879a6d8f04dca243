"""Pending edits in the state directory survive a restart."""

from pathlib import Path

from jupyter_ai_shoulders.files.base import ChangeOrigin
from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.wire.api.commands import CreateSession, DecideEdit
from jupyter_ai_shoulders.wire.edits import PendingEdit
from jupyter_ai_shoulders.wire.ids import SessionId, TurnId
from tests.host.test_build import opened


async def pending(host: Host) -> list[PendingEdit]:
    return list((await host.review.list()).edits)


def texts(root: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in root.rglob("*.txt")}


async def changed(host: Host, root: Path) -> SessionId:
    """Change one file, create one, delete one and move one; return the session."""
    session_id = host.session_service.create(CreateSession(), owner=None).id
    origin = ChangeOrigin(session_id, TurnId("turn"))
    (root / "a.txt").write_bytes(b"one\r\ntwo\r\n")
    (root / "gone.txt").write_text("gone\n")
    version = (await host.files.texts.read("a.txt")).version
    await host.files.texts.replace("a.txt", "one\nTWO\n", version, origin)
    await host.files.changes.create("new/made.txt", "made\n", origin)
    await host.files.changes.delete("gone.txt", origin)
    await host.files.changes.move("new/made.txt", "new/moved.txt", origin)
    return session_id


async def test_what_awaits_review_is_there_after_a_restart_and_can_be_undone(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with opened(tmp_path, isolated_home) as host:
        await changed(host, tmp_path)
        before = await pending(host)
        assert [edit.document for edit in before] == ["a.txt", "gone.txt", "new/moved.txt"]

    async with opened(tmp_path, isolated_home) as host:
        assert await pending(host) == before
        for edit in before:
            await host.review.decide(edit.id, DecideEdit(decision="undo"))
        assert await pending(host) == []

    assert texts(tmp_path) == {"a.txt": b"one\r\ntwo\r\n", "gone.txt": b"gone\n"}
    async with opened(tmp_path, isolated_home) as host:
        assert await pending(host) == []


async def test_edits_of_a_conversation_brought_back_after_a_restart_are_shown(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with opened(tmp_path, isolated_home) as host:
        session_id = await changed(host, tmp_path)
        await host.session_service.delete(host.sessions.get(session_id))
        assert await pending(host) == []

    async with opened(tmp_path, isolated_home) as host:
        assert await pending(host) == []
        host.session_service.undelete(session_id, owner=None)
        host.pending_edits.reload_session(session_id)
        assert len(await pending(host)) == 3


async def test_an_undo_by_the_review_is_in_the_operation_log(
    tmp_path: Path, isolated_home: Path
) -> None:
    async with opened(tmp_path, isolated_home) as host:
        await changed(host, tmp_path)
        edit = (await pending(host))[0]
        await host.review.decide(edit.id, DecideEdit(decision="undo"))

        (undo, change, *_) = host.files.journal.recent(path="a.txt")
        assert (undo.by, undo.kind, undo.state) == ("user", "edit", "done")
        assert change.by == "agent"
