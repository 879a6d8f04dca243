"""Notebooks that are more than a file: hooks, pairs, stores. Real managers, real files."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import nbformat
import pytest
from jupyter_server.serverapp import ServerApp
from jupyter_server.services.contents.filemanager import (
    AsyncFileContentsManager,
    FileContentsManager,
)
from jupyter_server.services.contents.largefilemanager import (
    AsyncLargeFileManager,
    LargeFileManager,
)
from nbformat.sign import NotebookNotary

from jupyter_ai_shoulders.core.errors import Conflict, InvalidNotebook, NotFound
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.backends.disk.contents_manager import StoredNotebooks
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import DiskNotebooks
from jupyter_ai_shoulders.notebook.base import Applied, Conflicted
from jupyter_ai_shoulders.server.adapters.contents_manager import ServerContents
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
)
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.server.adapters.contents_managers import (
    MemoryManager,
    PairingManager,
    Store,
    WaitingManager,
)

A, B, C = CellId("aaaa"), CellId("bbbb"), CellId("cccc")
PATH = WorkspacePath("n.ipynb")
HTML: tuple[JsonObject, ...] = (
    {"output_type": "display_data", "data": {"text/html": "<b>\n</b>"}, "metadata": {}},
)


def notebook(minor: int = 5) -> Any:
    ids = {"id": "aaaa"}, {"id": "bbbb"}, {"id": "cccc"}
    html = nbformat.v4.new_output("display_data", {"text/html": "<i>"})
    made = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell("a = 1\na", outputs=[html], **ids[0]),
            nbformat.v4.new_markdown_cell("# Title", **ids[1]),
            nbformat.v4.new_code_cell("c = 3", **ids[2]),
        ]
    )
    if minor < 5:
        for cell in made.cells:
            del cell["id"]
        made.nbformat_minor = minor
    return made


class ContentsSetup:
    """A root directory, a manager over it, and our notebooks over that."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / PATH
        self.workspace = Workspace(root)
        self.disk = DiskNotebooks(self.workspace)
        self.server: Any = SimpleNamespace(contents_manager=None, root_dir=str(root))
        self.contents = ServerContents(cast("ServerApp", self.server))
        self.notebooks = StoredNotebooks(self.disk, self.contents)

    def manage(self, make: Callable[..., Any], **traits: Any) -> Any:
        manager = make(root_dir=str(self.root))
        for name, value in traits.items():
            setattr(manager, name, value)
        manager.notary = NotebookNotary(data_dir=str(self.root.parent))
        self.server.contents_manager = manager
        return manager

    def write(self, made: Any = None) -> None:
        self.file.write_text(nbformat.writes(made or notebook()), encoding="utf-8")

    def sources(self) -> list[str]:
        cells = json.loads(self.file.read_text(encoding="utf-8"))["cells"]
        return ["".join(cell["source"]) for cell in cells]

    async def change(self, cell_id: CellId, source: str) -> Applied:
        outcome = await self.notebooks.apply(PATH, [CellSource(cell_id=cell_id, source=source)], {})
        assert isinstance(outcome, Applied)
        return outcome


@pytest.fixture
def setup(tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[ContentsSetup]:
    root = tmp_path / "root"
    root.mkdir()
    setup = ContentsSetup(root)
    setup.write()
    yield setup
    jp_asyncio_loop.run_until_complete(setup.disk.close())
    setup.workspace.close()
    manager = setup.server.contents_manager
    if manager is not None:
        manager.notary.store.close()


def note(**_: Any) -> None:
    """A hook."""


def stored(setup: ContentsSetup, *, waits: bool) -> Store:
    """Replace files by a store."""
    store = Store()
    store.put(PATH, notebook())
    manager: Any = (WaitingManager if waits else MemoryManager)(store)
    manager.notary = NotebookNotary(data_dir=str(setup.root.parent))
    setup.server.contents_manager = manager
    setup.file.unlink()
    return store


# choice of the manager


@pytest.mark.parametrize(
    "make",
    [AsyncFileContentsManager, AsyncLargeFileManager, FileContentsManager, LargeFileManager],
)
def test_files_without_hooks_are_plain(setup: ContentsSetup, make: Callable[..., Any]) -> None:
    setup.manage(make)
    assert setup.contents.is_plain


@pytest.mark.parametrize("hook", ["pre_save_hook", "post_save_hook"])
def test_hook_that_is_configured_makes_files_not_plain(setup: ContentsSetup, hook: str) -> None:
    setup.manage(AsyncLargeFileManager, **{hook: note})
    assert not setup.contents.is_plain


@pytest.mark.parametrize("hook", ["pre_save_hook", "post_save_hook"])
def test_hook_that_an_extension_adds_later_counts(setup: ContentsSetup, hook: str) -> None:
    manager = setup.manage(AsyncLargeFileManager)
    assert setup.contents.is_plain
    getattr(manager, f"register_{hook}")(note)
    assert not setup.contents.is_plain


def test_other_managers_and_other_roots_are_not_plain(setup: ContentsSetup) -> None:
    setup.manage(PairingManager)
    assert not setup.contents.is_plain
    manager = setup.manage(LargeFileManager)
    elsewhere = setup.root / "elsewhere"
    elsewhere.mkdir()
    manager.root_dir = str(elsewhere)
    assert not setup.contents.is_plain


# hooks


async def test_post_save_hook_runs_for_an_edit(setup: ContentsSetup) -> None:
    seen: list[tuple[str, list[str]]] = []

    def hook(os_path: str, model: Any, contents_manager: Any) -> None:
        seen.append((os_path, setup.sources()))

    setup.manage(AsyncLargeFileManager, post_save_hook=hook)
    await setup.change(C, "c = 4")
    assert seen == [(str(setup.file), ["a = 1\na", "# Title", "c = 4"])]


async def test_pre_save_hook_has_its_way_and_the_versions_are_those_after_it(
    setup: ContentsSetup,
) -> None:
    def hook(model: Any, path: str, contents_manager: Any) -> None:
        for cell in model["content"]["cells"]:
            cell["source"] = cell["source"].replace("\t", "    ")
            if cell["cell_type"] == "code":
                cell["outputs"] = []

    setup.manage(LargeFileManager, pre_save_hook=hook)
    applied = await setup.change(C, "if c:\n\tc")
    assert applied.versions == {C: cell_version("if c:\n    c")}
    snapshot = await setup.notebooks.read(PATH, "all")
    assert [cell.outputs for cell in snapshot.cells] == [(), (), ()]
    again = CellSource(cell_id=C, source="c = 5")
    assert isinstance(await setup.notebooks.apply(PATH, [again], applied.versions), Applied)


async def test_edits_of_all_kinds_and_their_inverse_go_through_the_manager(
    setup: ContentsSetup,
) -> None:
    setup.manage(AsyncLargeFileManager, post_save_hook=note)
    before = json.loads(setup.file.read_text())
    new = CellInsert(
        cell_id=CellId("new"), cell_type="code", source="x\ny", metadata={}, after=None
    )
    outcome = await setup.notebooks.apply(
        PATH,
        [
            new,
            CellMove(cell_id=C, after=None),
            CellOutputs(cell_id=A, outputs=HTML, execution_count=4),
            CellDelete(cell_id=B),
        ],
        {},
    )
    assert isinstance(outcome, Applied)
    snapshot = await setup.notebooks.read(PATH, [A])
    assert [(cell.id, cell.source) for cell in snapshot.cells] == [
        (C, "c = 3"),
        ("new", "x\ny"),
        (A, "a = 1\na"),
    ]
    assert snapshot.cells[2].outputs == HTML
    nbformat.validate(json.loads(setup.file.read_text()))
    assert isinstance(await setup.notebooks.apply(PATH, outcome.inverse, {}), Applied)
    assert json.loads(setup.file.read_text()) == before


async def test_edit_of_another_version_is_a_conflict_and_saves_nothing(
    setup: ContentsSetup,
) -> None:
    setup.manage(AsyncLargeFileManager, post_save_hook=note)
    before = setup.file.stat()
    edit = CellSource(cell_id=C, source="x")
    outcome = await setup.notebooks.apply(PATH, [edit], {C: cell_version("other")})
    assert isinstance(outcome, Conflicted)
    assert (setup.file.stat().st_ino, setup.file.stat().st_mtime_ns) == (
        before.st_ino,
        before.st_mtime_ns,
    )


# trust


@pytest.mark.parametrize("trusted", [True, False])
async def test_notebook_is_as_trusted_as_before(setup: ContentsSetup, trusted: bool) -> None:
    manager = setup.manage(AsyncLargeFileManager, post_save_hook=note)
    if trusted:
        manager.notary.sign(nbformat.read(setup.file, as_version=4))
    new = CellInsert(
        cell_id=CellId("new"),
        cell_type="code",
        source="x",
        metadata={},
        after=None,
        outputs=HTML,
        execution_count=1,
    )
    await setup.notebooks.apply(PATH, [new, CellSource(cell_id=C, source="x")], {})
    assert manager.notary.check_signature(nbformat.read(setup.file, as_version=4)) == trusted
    snapshot = await setup.notebooks.read(PATH)
    assert all("trusted" not in cell.metadata for cell in snapshot.cells)
    assert '"trusted"' not in setup.file.read_text()


# pairs and stores


async def test_paired_script_is_read_and_written(setup: ContentsSetup) -> None:
    setup.manage(PairingManager)
    script = setup.file.with_suffix(".py")
    await setup.change(C, "c = 4")
    assert script.read_text() == "a = 1\na\n# %%\n# Title\n# %%\nc = 4"
    script.write_text(script.read_text().replace("a = 1", "a = 2"))
    cell = (await setup.notebooks.read(PATH)).cell(A)
    assert cell is not None
    assert cell.source == "a = 2\na"
    await setup.change(B, "# Other")
    assert setup.sources() == ["a = 2\na", "# Other", "c = 4"]


@pytest.mark.parametrize("waits", [True, False], ids=["awaited", "at once"])
async def test_notebook_in_a_store_is_edited_there(setup: ContentsSetup, waits: bool) -> None:
    store = stored(setup, waits=waits)
    setup.notebooks.check(PATH)
    snapshot = await setup.notebooks.read(PATH)
    assert [cell.id for cell in snapshot.cells] == [A, B, C]
    await setup.change(B, "# Other")
    assert [cell["source"] for cell in store.notebooks[PATH]["cells"]] == [
        "a = 1\na",
        "# Other",
        "c = 3",
    ]
    with pytest.raises(NotFound):
        await setup.notebooks.read(WorkspacePath("missing.ipynb"))


async def test_save_by_others_between_read_and_save_is_kept(setup: ContentsSetup) -> None:
    store = stored(setup, waits=True)

    def meddle() -> None:
        content = store.notebooks[PATH]
        content["cells"][0]["source"] = "theirs"
        store.put(PATH, content)

    setup.server.contents_manager.after_get = meddle
    await setup.change(C, "ours")
    assert [cell["source"] for cell in store.notebooks[PATH]["cells"]] == [
        "theirs",
        "# Title",
        "ours",
    ]


async def test_notebook_that_others_save_all_the_time_is_left_alone(setup: ContentsSetup) -> None:
    store = stored(setup, waits=True)
    manager = setup.server.contents_manager

    def meddle() -> None:
        store.put(PATH, store.notebooks[PATH])
        manager.after_get = meddle

    manager.after_get = meddle
    with pytest.raises(Conflict, match="keeps being changed"):
        await setup.change(C, "ours")
    assert store.notebooks[PATH]["cells"][2]["source"] == "c = 3"


async def test_edits_at_the_same_time_all_arrive(setup: ContentsSetup) -> None:
    store = stored(setup, waits=True)
    await asyncio.gather(setup.change(A, "x"), setup.change(B, "y"), setup.change(C, "z"))
    assert [cell["source"] for cell in store.notebooks[PATH]["cells"]] == ["x", "y", "z"]


# old and broken files


@pytest.mark.parametrize("version", [3, 4])
async def test_cells_without_ids_keep_theirs(setup: ContentsSetup, version: int) -> None:
    setup.manage(AsyncLargeFileManager, post_save_hook=note)
    old: Any = notebook(4)
    if version == 3:
        code: Any = cast("Any", nbformat.v3).new_code_cell
        old = nbformat.v3.new_notebook(
            worksheets=[nbformat.v3.new_worksheet(cells=[code(input="a = 1\na"), code(input="c")])]
        )
        setup.file.write_text(json.dumps(old))
    else:
        setup.write(old)
    first = [cell.id for cell in (await setup.notebooks.read(PATH)).cells]
    await setup.change(first[0], "new")
    second = await setup.notebooks.read(PATH)
    assert [cell.id for cell in second.cells] == first
    assert second.cells[0].source == "new"
    nbformat.validate(json.loads(setup.file.read_text()))


async def test_broken_file_is_named_and_not_saved(setup: ContentsSetup) -> None:
    setup.manage(AsyncLargeFileManager, post_save_hook=note)
    setup.file.write_text('{"cells": [')
    with pytest.raises(InvalidNotebook, match=r"n\.ipynb is not a valid notebook"):
        await setup.change(C, "x")
    assert setup.file.read_text() == '{"cells": ['


async def test_manager_of_a_server_that_nobody_configured_is_plain(jp_serverapp: ServerApp) -> None:
    assert ServerContents(jp_serverapp).is_plain
    cast("Any", jp_serverapp.contents_manager).register_post_save_hook(note)
    assert not ServerContents(jp_serverapp).is_plain
