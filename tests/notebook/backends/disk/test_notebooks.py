import asyncio
import json
import logging
import os
import stat
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import nbformat
import pytest
from nbformat.sign import NotebookNotary

from jupyter_ai_shoulders.core.errors import InvalidNotebook, NotFound
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.notebook.backends.disk import notebooks as disk_module
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebook, DiskNotebooks
from jupyter_ai_shoulders.notebook.backends.disk.trust import NotebookTrust
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.notebook.formats.notebook_file import ParsedNotebook
from jupyter_ai_shoulders.wire.frames import CellConflict
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
    OutputSummary,
)
from jupyter_ai_shoulders.wire.versions import cell_version

A, B, C = CellId("aaaa"), CellId("bbbb"), CellId("cccc")


def notebook() -> nbformat.NotebookNode:
    return nbformat.v4.new_notebook(
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}},
        cells=[
            nbformat.v4.new_code_cell(
                "a = 1\nprint(a)",
                id="aaaa",
                execution_count=3,
                outputs=[nbformat.v4.new_output("stream", text="1\n2\n")],
            ),
            nbformat.v4.new_markdown_cell("# Title", id="bbbb"),
            nbformat.v4.new_code_cell("c = 3", id="cccc"),
        ],
    )


@pytest.fixture
def notary_directory(tmp_path: Path) -> Path:
    directory = tmp_path / "data"
    directory.mkdir()
    return directory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    directory = tmp_path / "root"
    directory.mkdir()
    (directory / "n.ipynb").write_text(nbformat.writes(notebook()))
    return directory


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    workspace = Workspace(root)
    yield workspace
    workspace.close()


@pytest.fixture
def notebooks(
    workspace: Workspace, notary_directory: Path, jp_asyncio_loop: asyncio.AbstractEventLoop
) -> Iterator[DiskNotebooks]:
    trust = NotebookTrust(lambda: NotebookNotary(data_dir=str(notary_directory)))
    notebooks = DiskNotebooks(workspace, trust)
    yield notebooks
    jp_asyncio_loop.run_until_complete(notebooks.close())


@pytest.fixture
def disk(notebooks: DiskNotebooks, workspace: Workspace) -> DiskNotebook:
    return notebooks.open(workspace.path("n.ipynb"))


def version(source: str) -> Version:
    return cell_version(source)


async def test_read_gives_cells_without_outputs(disk: DiskNotebook) -> None:
    snapshot = await disk.read()
    assert (snapshot.path, snapshot.backend, snapshot.dirty) == ("n.ipynb", "disk", False)
    assert snapshot.metadata["kernelspec"] == {"name": "python3", "display_name": "Python 3"}
    assert [cell.id for cell in snapshot.cells] == [A, B, C]
    first = snapshot.cells[0]
    assert first.source == "a = 1\nprint(a)"
    assert first.version == version(first.source)
    assert first.output_summary == (OutputSummary(kind="stream", mime_types=(), size=4),)
    assert [cell.outputs for cell in snapshot.cells] == [None, None, None]


async def test_read_gives_the_outputs_asked_for(disk: DiskNotebook) -> None:
    asked = await disk.read(outputs=[A, CellId("gone")])
    everything = await disk.read(outputs="all")
    outputs = ({"output_type": "stream", "name": "stdout", "text": "1\n2\n"},)
    assert [cell.outputs for cell in asked.cells] == [outputs, None, None]
    assert [cell.outputs for cell in everything.cells] == [outputs, (), ()]
    assert everything.cells == list(everything.cells)


async def test_position_and_cell_find_a_cell_by_id(disk: DiskNotebook) -> None:
    snapshot = await disk.read()
    assert (snapshot.position(C), snapshot.position(CellId("x"))) == (2, None)
    cell = snapshot.cell(B)
    assert cell is not None
    assert cell.source == "# Title"
    assert snapshot.cell(CellId("x")) is None


async def test_read_of_a_missing_file_is_not_found(
    notebooks: DiskNotebooks, workspace: Workspace
) -> None:
    with pytest.raises(NotFound):
        await notebooks.open(workspace.path("missing.ipynb")).read()


async def test_edit_changes_one_cell_and_says_how_to_take_it_back(
    disk: DiskNotebook, root: Path
) -> None:
    before = (root / "n.ipynb").read_text()
    outcome = await disk.apply(
        [CellSource(cell_id=C, source="c = 4")], expected={C: version("c = 3")}
    )
    assert outcome == Applied({C: version("c = 4")}, (CellSource(cell_id=C, source="c = 3"),))
    assert (root / "n.ipynb").read_text() == before.replace("c = 3", "c = 4")


async def test_edit_keeps_the_mode(disk: DiskNotebook, root: Path) -> None:
    (root / "n.ipynb").chmod(0o604)
    await disk.apply([CellSource(cell_id=C, source="x")], {})
    assert stat.S_IMODE((root / "n.ipynb").stat().st_mode) == 0o604


async def test_edit_that_changes_nothing_does_not_touch_the_file(
    disk: DiskNotebook, root: Path
) -> None:
    before = (root / "n.ipynb").stat()
    outcome = await disk.apply([CellSource(cell_id=C, source="c = 3")], {})
    after = (root / "n.ipynb").stat()
    assert isinstance(outcome, Applied)
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


async def test_inverse_restores_the_file_byte_for_byte(disk: DiskNotebook, root: Path) -> None:
    before = (root / "n.ipynb").read_bytes()
    edits: list[CellEdit] = [
        CellDelete(cell_id=B),
        CellMove(cell_id=C, after=None),
        CellOutputs(cell_id=A, outputs=(), execution_count=None),
        CellInsert(cell_id=CellId("n"), cell_type="code", source="x", metadata={}, after=A),
    ]
    outcome = await disk.apply(edits, {})
    assert isinstance(outcome, Applied)
    assert [cell.id for cell in (await disk.read()).cells] == [C, A, "n"]
    undone = await disk.apply(outcome.inverse, {})
    assert isinstance(undone, Applied)
    assert (root / "n.ipynb").read_bytes() == before


async def test_inverse_of_a_deletion_brings_the_attachments_back(
    notebooks: DiskNotebooks, workspace: Workspace, root: Path
) -> None:
    cell = nbformat.v4.new_markdown_cell(
        "![a](attachment:a.png)", id="m", attachments={"a.png": {"image/png": "AAAA"}}
    )
    text = nbformat.writes(nbformat.v4.new_notebook(cells=[cell]))
    (root / "m.ipynb").write_text(text)
    disk = notebooks.open(workspace.path("m.ipynb"))
    outcome = await disk.apply([CellDelete(cell_id=CellId("m"))], {})
    assert isinstance(outcome, Applied)
    await disk.apply(outcome.inverse, {})
    assert (root / "m.ipynb").read_text() == text


@pytest.mark.parametrize(
    ("edits", "expected", "conflict"),
    [
        pytest.param(
            [CellSource(cell_id=C, source="x")],
            {C: version("other")},
            CellConflict(cell_id=C, current="c = 3", version=version("c = 3"), reason="changed"),
            id="changed",
        ),
        pytest.param(
            [CellSource(cell_id=CellId("gone"), source="x")],
            {},
            CellConflict(cell_id=CellId("gone"), current=None, version=None, reason="deleted"),
            id="deleted",
        ),
        pytest.param(
            [CellInsert(cell_id=B, cell_type="raw", source="", metadata={}, after=None)],
            {},
            CellConflict(cell_id=B, current="# Title", version=version("# Title"), reason="exists"),
            id="exists",
        ),
        pytest.param(
            [CellMove(cell_id=B, after=CellId("gone"))],
            {},
            CellConflict(cell_id=CellId("gone"), current=None, version=None, reason="deleted"),
            id="after a deleted cell",
        ),
        pytest.param(
            [CellOutputs(cell_id=B, outputs=(), execution_count=1)],
            {},
            CellConflict(
                cell_id=B, current="# Title", version=version("# Title"), reason="changed"
            ),
            id="outputs of a text cell",
        ),
    ],
)
async def test_conflict_changes_nothing(
    disk: DiskNotebook,
    root: Path,
    edits: list[CellEdit],
    expected: dict[CellId, Version],
    conflict: CellConflict,
) -> None:
    before = (root / "n.ipynb").read_bytes()
    good = CellSource(cell_id=A, source="never written")
    assert await disk.apply([good, *edits], expected) == Conflicted((conflict,))
    assert (root / "n.ipynb").read_bytes() == before


@pytest.mark.parametrize(
    ("metadata", "edit", "protected"),
    [
        ({"editable": False}, CellSource(cell_id=A, source="x"), True),
        ({"deletable": False}, CellDelete(cell_id=A), True),
        ({"editable": False}, CellDelete(cell_id=A), False),
        ({"deletable": False}, CellSource(cell_id=A, source="x"), False),
        ({"editable": False}, CellOutputs(cell_id=A, outputs=(), execution_count=1), False),
        ({"deletable": False}, CellMove(cell_id=A, after=C), False),
    ],
)
async def test_protected_cells_are_respected(
    disk: DiskNotebook, root: Path, metadata: dict[str, Any], edit: CellEdit, protected: bool
) -> None:
    changed = notebook()
    changed.cells[0].metadata.update(metadata)
    (root / "n.ipynb").write_text(nbformat.writes(changed))
    outcome = await disk.apply([edit], {})
    assert isinstance(outcome, Conflicted) == protected
    if isinstance(outcome, Conflicted):
        assert outcome.conflicts[0].reason == "protected"


async def test_change_by_others_between_read_and_edit_is_kept(
    disk: DiskNotebook, root: Path
) -> None:
    await disk.read()
    path = root / "n.ipynb"
    path.write_text(path.read_text().replace("# Title", "# Other title"))
    outcome = await disk.apply([CellSource(cell_id=C, source="x")], {C: version("c = 3")})
    assert isinstance(outcome, Applied)
    assert [cell.source for cell in (await disk.read()).cells] == [
        "a = 1\nprint(a)",
        "# Other title",
        "x",
    ]


async def test_change_of_the_same_cell_by_others_is_a_conflict(
    disk: DiskNotebook, root: Path
) -> None:
    await disk.read()
    path = root / "n.ipynb"
    path.write_text(path.read_text().replace("c = 3", "c = 5"))
    outcome = await disk.apply([CellSource(cell_id=C, source="x")], {C: version("c = 3")})
    assert isinstance(outcome, Conflicted)
    assert outcome.conflicts[0].current == "c = 5"


async def test_change_within_one_tick_of_the_clock_is_seen(disk: DiskNotebook, root: Path) -> None:
    path = root / "n.ipynb"
    # The file is never older than its snapshot, even on a slow machine.
    stamp = time.time_ns() + 3_600_000_000_000
    os.utime(path, ns=(stamp, stamp))
    await disk.read()
    path.write_text(path.read_text().replace("c = 3", "c = 5"))
    os.utime(path, ns=(stamp, stamp))
    outcome = await disk.apply([CellSource(cell_id=C, source="x")], {C: version("c = 3")})
    assert isinstance(outcome, Conflicted)


async def test_change_while_the_new_file_is_written_is_kept(
    disk: DiskNotebook, root: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = root / "n.ipynb"
    replace = Workspace.replace
    changes = iter(["# First", "# Second"])

    def meddled(self: Workspace, *args: Any) -> Any:
        title = next(changes, None)
        if title is not None:
            content = json.loads(path.read_text())
            content["cells"][1]["source"] = [title]
            path.write_text(json.dumps(content))
        return replace(self, *args)

    monkeypatch.setattr(Workspace, "replace", meddled)
    outcome = await disk.apply([CellSource(cell_id=C, source="x")], {C: version("c = 3")})
    assert isinstance(outcome, Applied)
    assert [cell.source for cell in (await disk.read()).cells][1:] == ["# Second", "x"]


async def test_edits_at_the_same_time_all_arrive(disk: DiskNotebook, root: Path) -> None:
    edits = [
        CellInsert(
            cell_id=CellId(f"n{number}"), cell_type="raw", source="", metadata={}, after=None
        )
        for number in range(10)
    ]
    await asyncio.gather(*(disk.apply([edit], {}) for edit in edits))
    assert len((await disk.read()).cells) == 13
    nbformat.validate(json.loads((root / "n.ipynb").read_text()))


async def test_edit_whose_caller_is_cancelled_is_finished_first(
    disk: DiskNotebook, root: Path
) -> None:
    task = asyncio.create_task(disk.apply([CellSource(cell_id=C, source="x")], {}))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert json.loads((root / "n.ipynb").read_text())["cells"][2]["source"] == ["x"]


@pytest.mark.parametrize(
    ("content", "line", "column"),
    [
        pytest.param(b"", 1, 1, id="empty"),
        pytest.param(b"<<<<<<< HEAD\n{}", 1, 1, id="merge conflict"),
        pytest.param(b'{\n "cells": [\n  {]\n', 3, 4, id="broken"),
        pytest.param(b'{"cells": [], "nbformat": 4} x', 1, 30, id="extra data"),
        pytest.param(b"[]", 1, 1, id="a list"),
        pytest.param(b"{}", 1, 1, id="no format"),
        pytest.param(b'{"nbformat": 5,\n "cells": []}', 1, 14, id="a later format"),
        pytest.param(b'{"nbformat": 4,\n "cells": {}}', 2, 11, id="cells is an object"),
        pytest.param(b'{"nbformat": 4, "cells": [], "cells": []}', 1, 30, id="key twice"),
        pytest.param(b'{"nbformat": 4, "cells": [\n1]}', 2, 1, id="cell is a number"),
        pytest.param(b'{"nbformat": 4, "cells": [\n{"cell_type": []}]}', 2, 1, id="cell type"),
        pytest.param(
            b'{"nbformat": 4, "cells": [\n{"cell_type": "raw", "source": [1]}]}',
            2,
            1,
            id="source of numbers",
        ),
        pytest.param(
            b'{"nbformat": 4, "cells": [\n{"cell_type": "raw", "source": {"a": 1}}]}',
            2,
            1,
            id="source is an object",
        ),
        pytest.param(b'{"nbformat": 4, "metadata": 1, "cells": []}', 1, 29, id="metadata"),
        pytest.param(b'{"nbformat": 4,\n\n "x": "\xff"}', 3, 8, id="not UTF-8"),
        pytest.param('{"nbformat": 4}'.encode("utf-16"), 1, 1, id="UTF-16"),
        pytest.param(b'{"a": ' + b"[" * 200_000, 1, 1, id="nested too deeply"),
        pytest.param(b'{"a": ' + b"1" * 5_000 + b"}", 1, 1, id="number too long"),
    ],
)
async def test_file_that_is_no_notebook_is_named_and_never_written(
    disk: DiskNotebook, root: Path, content: bytes, line: int, column: int
) -> None:
    (root / "n.ipynb").write_bytes(content)
    with pytest.raises(InvalidNotebook) as raised:
        await disk.apply([CellSource(cell_id=A, source="x")], {})
    assert raised.value.info.details == {"line": line, "column": column}
    assert (root / "n.ipynb").read_bytes() == content
    with pytest.raises(InvalidNotebook):
        await disk.read()


def old_notebook(minor: int, *sources: str) -> str:
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": s}
        for s in sources
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": minor})


async def test_cells_without_ids_keep_theirs_through_edits_and_changes_by_others(
    disk: DiskNotebook, root: Path
) -> None:
    path = root / "n.ipynb"
    path.write_text(old_notebook(4, "a", "b", "b"))
    first, second, third = [cell.id for cell in (await disk.read()).cells]
    assert len({first, second, third}) == 3
    edits: list[CellEdit] = [
        CellSource(cell_id=second, source="B"),
        CellInsert(cell_id=CellId("new"), cell_type="raw", source="n", metadata={}, after=None),
        CellMove(cell_id=first, after=third),
    ]
    await disk.apply(edits, {})
    expected = [("new", "n"), (second, "B"), (third, "b"), (first, "a")]
    assert [(cell.id, cell.source) for cell in (await disk.read()).cells] == expected
    assert '"id"' not in path.read_text()

    content = json.loads(path.read_text())
    content["cells"][2]["source"] = "changed"
    content["cells"].insert(0, {"cell_type": "raw", "metadata": {}, "source": "above"})
    path.write_text(json.dumps(content))
    cells = (await disk.read()).cells
    assert [cell.id for cell in cells][1:] == ["new", second, third, first]


async def test_ids_of_cells_without_ids_are_the_same_in_each_session(
    workspace: Workspace, root: Path
) -> None:
    (root / "n.ipynb").write_text(old_notebook(2, "a", "b", "b"))
    seen: list[list[CellId]] = []
    for _ in range(2):
        notebooks = DiskNotebooks(workspace)
        snapshot = await notebooks.open(workspace.path("n.ipynb")).read()
        seen.append([cell.id for cell in snapshot.cells])
        await notebooks.close()
    assert seen[0] == seen[1]


async def test_duplicate_ids_name_the_first_cell(disk: DiskNotebook, root: Path) -> None:
    content = notebook()
    content.cells[2]["id"] = "aaaa"
    (root / "n.ipynb").write_text(json.dumps(content))
    ids = [cell.id for cell in (await disk.read()).cells]
    assert ids[:2] == [A, B]
    assert ids[2] not in {A, B}
    await disk.apply([CellSource(cell_id=ids[2], source="third")], {})
    after = json.loads((root / "n.ipynb").read_text())
    assert [cell["id"] for cell in after["cells"]] == ["aaaa", "bbbb", "aaaa"]
    assert after["cells"][2]["source"] == "third"


@pytest.mark.parametrize(
    ("signed", "others", "trusted"),
    [
        pytest.param(False, "nothing", False, id="untrusted stays so"),
        pytest.param(True, "nothing", True, id="trusted stays so"),
        pytest.param(True, "write", False, id="others add an output"),
        pytest.param(False, "write and sign", True, id="others add an output and trust it"),
    ],
)
async def test_edits_in_a_row_keep_the_trust_of_what_they_changed(
    workspace: Workspace,
    notary_directory: Path,
    signed: bool,
    others: str,
    trusted: bool,
) -> None:
    path = workspace.directory / "n.ipynb"
    with NotebookNotary(data_dir=str(notary_directory)) as notary:

        def read() -> Any:
            return cast("Any", nbformat.read(path, as_version=4))

        if signed:
            notary.sign(read())
        trust = NotebookTrust(lambda: NotebookNotary(data_dir=str(notary_directory)))
        notebooks = DiskNotebooks(workspace, trust)
        disk = notebooks.open(workspace.path("n.ipynb"))
        for source in ("v", "w"):
            await disk.apply([CellSource(cell_id=C, source=source)], {})
        ours = read()
        if others != "nothing":
            path.write_text(path.read_text().replace('"2\\n"', '"<script>\\n"'))
            assert read() != ours
        if others == "write and sign":
            notary.sign(read())
        for source in ("x", "y"):
            await disk.apply([CellSource(cell_id=C, source=source)], {})
        await notebooks.close()
        assert notary.check_signature(read()) == trusted
        assert notary.check_signature(ours) == (signed and others != "nothing")


async def test_edits_in_a_row_are_signed_once_at_the_end(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_module, "_SIGN_SECONDS", 100)
    monkeypatch.setattr(disk_module, "_UNSIGNED_SECONDS", 100)
    trust = CountedTrust()
    notebooks = DiskNotebooks(workspace, trust)
    notebook = notebooks.open(workspace.path("n.ipynb"))
    for source in ("x", "y"):
        await notebook.apply([CellSource(cell_id=C, source=source)], {})
    seen = [trust.checked, trust.signed]
    await notebooks.close()
    assert [*seen, trust.checked, trust.signed] == [0, 0, 1, 1]


@pytest.mark.parametrize("limit", ["_SIGN_SECONDS", "_UNSIGNED_SECONDS"])
async def test_signing_needs_no_further_edit(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    for name in ("_SIGN_SECONDS", "_UNSIGNED_SECONDS"):
        monkeypatch.setattr(disk_module, name, 0.001 if name == limit else 100)
    trust = CountedTrust()
    notebooks = DiskNotebooks(workspace, trust)
    await notebooks.open(workspace.path("n.ipynb")).apply([CellSource(cell_id=C, source="x")], {})
    assert await asyncio.to_thread(trust.done.wait, 10)
    await notebooks.close()
    assert trust.signed == 1


class CountedTrust(NotebookTrust):
    """Trusts everything and counts what it signs."""

    def __init__(self) -> None:
        super().__init__()
        self.checked = 0
        self.signed = 0
        self.done = threading.Event()

    def is_trusted(self, notebook: ParsedNotebook) -> bool:
        self.checked += 1
        return True

    def sign(self, notebook: ParsedNotebook) -> None:
        self.signed += 1
        self.done.set()


async def test_trust_that_cannot_be_checked_does_not_stop_the_edit(
    workspace: Workspace, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken() -> NotebookNotary:
        raise OSError("no such directory")

    notebooks = DiskNotebooks(workspace, NotebookTrust(broken))
    with caplog.at_level(logging.WARNING):
        outcome = await notebooks.open(workspace.path("n.ipynb")).apply(
            [CellSource(cell_id=C, source="x")], {}
        )
    await notebooks.close()
    assert isinstance(outcome, Applied)
    assert "could not be checked" in caplog.text


async def test_lone_surrogates_and_odd_numbers_can_be_read_and_stay(
    disk: DiskNotebook, root: Path
) -> None:
    cell = (
        r'{"cell_type": "code", "execution_count": 1, "id": "odd", "metadata": '
        r'{"a": NaN, "b": 18446744073709551617, "c": "\ud800"}, "outputs": '
        r'[{"output_type": "stream", "name": "stdout", "text": "\udfff"}], "source": "\ud800"}'
    )
    other = '{"cell_type": "raw", "id": "other", "metadata": {}, "source": "x"}'
    text = f'{{"cells": [{cell}, {other}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}'
    (root / "n.ipynb").write_text(text)
    shown = (await disk.read(outputs="all")).cells[0]
    assert shown.source == "�"
    assert shown.version == version("\ud800")
    assert shown.outputs == ({"output_type": "stream", "name": "stdout", "text": "�"},)
    await disk.apply([CellSource(cell_id=CellId("other"), source="y")], {})
    assert (root / "n.ipynb").read_text() == text.replace('"source": "x"', '"source": "y"')
    await disk.apply([CellSource(cell_id=CellId("other"), source="\udc00")], {})
    assert (root / "n.ipynb").read_text() == text.replace('"source": "x"', r'"source": "\udc00"')


async def test_big_notebook_is_read_off_the_event_loop(disk: DiskNotebook, root: Path) -> None:
    big = notebook()
    big.cells[0].outputs[0]["text"] = "x" * 3_000_000
    (root / "n.ipynb").write_text(nbformat.writes(big))
    snapshot, _ = await asyncio.gather(disk.read(outputs="all"), asyncio.sleep(0))
    assert snapshot.cells[0].output_summary[0].size == 3_000_000
    outputs = (await disk.read([A])).cells[0].outputs
    assert outputs is not None
    assert len(str(outputs[0]["text"])) == 3_000_000
