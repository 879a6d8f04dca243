"""At its start, a host determines how changes of the last process ended."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import nbformat

from jupyter_ai_shoulders.core.operation_journal import ChangeOrigin, LoggedChange
from jupyter_ai_shoulders.wire.ids import BlobHash, OperationId, SessionId
from jupyter_ai_shoulders.wire.operations import OperationKind
from jupyter_ai_shoulders.wire.versions import cell_version, file_version
from tests.host.test_build import opened

ORIGIN = ChangeOrigin(SessionId("ses_gone"))
OLD, NEW = b"old\n", b"new\n"


def edit(path: str) -> LoggedChange:
    return LoggedChange(
        "edit",
        path,
        ORIGIN,
        before=BlobHash(file_version(OLD)),
        after=BlobHash(file_version(NEW)),
    )


def create(path: str) -> LoggedChange:
    return LoggedChange("create", path, ORIGIN, after=BlobHash(file_version(NEW)))


def moved(kind: OperationKind, path: str, new_path: str) -> LoggedChange:
    return LoggedChange(kind, path, ORIGIN, new_document=new_path)


async def test_begun_changes_are_settled_by_the_files(tmp_path: Path, isolated_home: Path) -> None:
    root = tmp_path / "root"
    (root / "folder").mkdir(parents=True)
    for name, content in {"a": OLD, "b": NEW, "c": b"user\n", "kept": OLD, "copy": OLD}.items():
        (root / name).write_bytes(content)
    book = nbformat.v4.new_notebook()
    book.cells = [nbformat.v4.new_code_cell("x = 2", id="c1")]
    (root / "n.ipynb").write_text(cast("str", nbformat.writes(book)))
    changes = {
        "not made": edit("a"),
        "made": edit("b"),
        "neither": edit("c"),
        "gone": edit("d"),
        "a new file that is there": LoggedChange(
            "create", "b", ORIGIN, after=BlobHash(file_version(NEW))
        ),
        "a new file that is not": create("e"),
        "another file of its name": LoggedChange(
            "create", "c", ORIGIN, after=BlobHash(file_version(NEW))
        ),
        "moved": moved("move", "was", "kept"),
        "not moved": moved("move", "kept", "will"),
        "copied": moved("copy", "kept", "copy"),
        "not copied": moved("copy", "kept", "no copy"),
        "a folder": LoggedChange("mkdir", "folder/", ORIGIN),
        "no folder": LoggedChange("mkdir", "missing/", ORIGIN),
        "a removed folder": LoggedChange("delete", "missing/", ORIGIN),
        "a deletion that was not": LoggedChange("delete", "a", ORIGIN),
        "a deletion nobody kept": LoggedChange("delete", "f", ORIGIN),
        "a cell": LoggedChange(
            "edit", "n.ipynb", ORIGIN, "c1", after_version=cell_version("x = 2")
        ),
        "no cell": LoggedChange(
            "edit", "n.ipynb", ORIGIN, "c1", after_version=cell_version("x = 3")
        ),
    }
    rows: dict[str, OperationId] = {}
    async with opened(root, isolated_home) as host:
        await host.ready()
        for name, change in changes.items():
            rows[name] = host.files.journal.begin(change)
        deleted = host.files.journal.begin(LoggedChange("delete", "trashed", ORIGIN))
        (root / ".shoulders" / "trash").mkdir()
        (root / ".shoulders" / "trash" / deleted).write_bytes(OLD)

    async with opened(root, isolated_home) as host:
        await host.ready()
        journal = host.files.journal
        done = {name for name, row in rows.items() if journal.get(row).state == "done"}
        failed = {name: journal.get(row).reason for name, row in rows.items() if name not in done}
        assert done == {
            "made",
            "a new file that is there",
            "moved",
            "copied",
            "a folder",
            "a removed folder",
            "a cell",
        }
        assert failed["not made"] == "The server stopped before it was made."
        for name in ("neither", "gone", "another file of its name", "a deletion nobody kept"):
            assert "neither as before nor as intended" in (failed[name] or ""), name
        assert journal.get(deleted).can_undo
        assert journal.unfinished() == []
        await host.files.undo.undo(deleted, ChangeOrigin(None, by="user"))
        assert (root / "trashed").read_bytes() == OLD
