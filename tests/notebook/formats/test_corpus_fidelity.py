"""Fidelity: an edit of one cell leaves every other byte unchanged, for files of any writer.

Expected results do not use the code under test: positions are from
``tests.notebook_corpus.json_positions``, values from Python's ``json``, and again from Node's JSON.
"""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, cast

import pytest
from nbformat import validator

from jupyter_ai_shoulders.core.errors import InvalidNotebook
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.backends.disk.notebooks import NotebookFiles
from jupyter_ai_shoulders.notebook.backends.disk.trust import NotebookTrust
from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.notebook.cells import joined_output
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import (
    CellDelete,
    CellEdit,
    CellInsert,
    CellMove,
    CellOutputs,
    CellSource,
    NotebookCell,
)
from tests.notebook_corpus.broken_notebooks import broken
from tests.notebook_corpus.build import corpus
from tests.notebook_corpus.corpus_items import BrokenItem, Item
from tests.notebook_corpus.json_positions import Located, Span, locate
from tests.support.case_selection import sample

ITEMS = corpus()
KINDS = sorted({item.kind for item in ITEMS})
SHEETS = "two_worksheets"
LARGE = 300_000
SOURCE = "neu = 'größe 😀'\nprint(neu)\n"
HEADING = "### größe"
NEW = CellId("new-cell")
OUTPUTS: tuple[JsonObject, ...] = (
    {"output_type": "stream", "name": "stdout", "text": "größe\n"},
    {
        "output_type": "execute_result",
        "execution_count": 41,
        "data": {"text/html": "<b>\n</b>", "image/png": "AAAA", "text/plain": "½"},
        "metadata": {},
    },
)


class Case:
    """A file of the corpus on disk, and edits of it."""

    def __init__(self, root: Path, workspace: Workspace, item: Item) -> None:
        self.item = item
        self.text = item.content.decode()
        self.before = locate(self.text)
        self._file = root / "n.ipynb"
        self._path = workspace.path("n.ipynb")
        self._workspace = workspace
        self._files = self._written()
        self.cells = list(self._files.snapshot(self._path, ()).cells)

    def _written(self) -> NotebookFiles:
        self._file.write_bytes(self.item.content)
        return NotebookFiles(self._workspace, NotebookTrust())

    @property
    def places(self) -> list[int]:
        """The cells to test: the first, one in the middle, the last; of large files one."""
        count = len(self.cells)
        tried = sorted({0, count // 2, count - 1}) if count else []
        if len(self.item.content) > LARGE:
            tried = [count // 2]
        return [index for index in tried if self.cells[index].metadata.get("editable") is not False]

    @property
    def is_old(self) -> bool:
        return "worksheets" in self.data()

    def data(self) -> Any:
        return json.loads(self.text.removeprefix("\ufeff"))

    def edited(self, *edits: CellEdit) -> str:
        """The file's text after an edit of the original file."""
        files = self._written()
        files.snapshot(self._path, ())
        outcome = files.edit(self._path, edits, {})
        assert isinstance(outcome, Applied), outcome
        read = NotebookFiles(self._workspace, NotebookTrust())
        self.cells_after = list(read.snapshot(self._path, "all").cells)
        return self._file.read_bytes().decode()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    workspace = Workspace(tmp_path)
    yield workspace
    workspace.close()


class Cases:
    """All files of one kind, each a part of its test."""

    def __init__(
        self, root: Path, workspace: Workspace, items: Sequence[Item], subtests: pytest.Subtests
    ) -> None:
        self._root = root
        self._workspace = workspace
        self._items = items
        self._subtests = subtests

    def check(self, check: Callable[[Case], None]) -> None:
        """Check every file, also after one has failed."""
        for item in self._items:
            with self._subtests.test(item.name):
                check(Case(self._root, self._workspace, item))


@pytest.fixture(params=KINDS)
def cases(
    tmp_path: Path,
    workspace: Workspace,
    subtests: pytest.Subtests,
    request: pytest.FixtureRequest,
) -> Cases:
    items = [item for item in ITEMS if item.kind == request.param]
    # Each test takes another part, so that together they try all files.
    part = sample(items, 6, offset=len(request.node.originalname))
    return Cases(tmp_path, workspace, part or items[:1], subtests)


def loaded(text: str) -> Any:
    return json.loads(text.removeprefix("\ufeff"))


def listed(data: Any) -> list[dict[str, Any]]:
    if "worksheets" in data:
        sheets = [sheet["cells"] for sheet in data["worksheets"]]
        return sheets[0] if len(sheets) == 1 else list(chain.from_iterable(sheets))
    return data["cells"]


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, NaN included, and keys in the same order."""
    return json.dumps(one) == json.dumps(other)


def joined(value: Any, end: str = "") -> Any:
    return end.join(cast("list[str]", value)) if isinstance(value, list) else value


def source_key(cell: dict[str, Any]) -> str:
    return "input" if "input" in cell and "source" not in cell else "source"


def changed_alone(before: str, after: str, span: Span) -> bool:
    """Whether only the value at ``span`` changed."""
    rest = len(before) - span.end
    return after[: span.start] == before[: span.start] and after.endswith(before[-rest:])


def other_parts(located: Located, index: int) -> list[str]:
    """The texts of all but one cell, and the text around the cells."""
    texts = located.texts()
    return [located.head, *located.gaps, *texts[:index], *texts[index + 1 :], located.tail]


def is_valid(data: Any) -> bool:
    minor = data.get("nbformat_minor")
    if not isinstance(minor, int) or minor > 5:
        return False
    schema: Any = cast("Any", validator).get_validator(4, minor)
    return not list(schema.iter_errors(data))


# the corpus itself


def test_corpus_is_varied_and_mostly_not_by_nbformat() -> None:
    assert len(ITEMS) >= 250
    assert len({item.id for item in ITEMS}) == len(ITEMS)
    assert len({item.content for item in ITEMS}) == len(ITEMS)
    assert sum(item.writer == "nbformat" for item in ITEMS) < len(ITEMS) / 2
    assert len(broken()) >= 40
    assert corpus() == ITEMS


# edits


def test_source_edit_leaves_every_other_byte(cases: Cases) -> None:
    cases.check(_source_edit_leaves_every_other_byte)


def _source_edit_leaves_every_other_byte(case: Case) -> None:
    for index in case.places:
        is_heading = listed(case.data())[index]["cell_type"] == "heading"
        source = HEADING if is_heading else SOURCE
        after = case.edited(CellSource(cell_id=case.cells[index].id, source=source))
        data = case.data()
        cell = listed(data)[index]
        key = source_key(cell)
        span = case.before.cells[index].members.get(key)
        found = locate(after)
        assert other_parts(found, index) == other_parts(case.before, index)
        if span is not None and not is_heading:
            assert changed_alone(case.text, after, span)
        assert case.cells_after[index].source == source
        assert_only(case, after, index, {key, "level"} if is_heading else {key})
        if span is not None:
            written = listed(loaded(after))[index][key]
            assert isinstance(written, type(cell[key]))
            has_ends = not isinstance(written, list) or "\n" in written[0] or is_heading
            assert joined(written, "" if has_ends else "\n") == source.removeprefix("### ")


def assert_only(case: Case, after: str, index: int, keys: set[str]) -> None:
    """Check that one cell differs only in these members, and is as valid as before."""
    before, now = case.data(), loaded(after)
    for data in (before, now):
        for key in keys:
            listed(data)[index].pop(key, None)
    assert same(now, before)
    if not case.is_old and is_valid(case.data()):
        assert is_valid(loaded(after))


def test_outputs_edit_leaves_every_other_byte(cases: Cases) -> None:
    cases.check(_outputs_edit_leaves_every_other_byte)


def _outputs_edit_leaves_every_other_byte(case: Case) -> None:
    codes = [index for index in case.places if case.cells[index].cell_type == "code"]
    for index in codes:
        cell_id = case.cells[index].id
        edit = CellOutputs(cell_id=cell_id, outputs=OUTPUTS, execution_count=41)
        after = case.edited(edit)
        found = locate(after)
        assert other_parts(found, index) == other_parts(case.before, index)
        keys = {"outputs", "prompt_number" if case.is_old else "execution_count"}
        kept = case.before.cells[index].members.keys() - keys
        for key in kept:
            now, then = found.cells[index].members[key], case.before.cells[index].members[key]
            assert now.text(after) == then.text(case.text)
        assert_only(case, after, index, keys)
        assert tuple(map(joined_output, case.cells_after[index].outputs or ())) == OUTPUTS
        assert case.cells_after[index].execution_count == 41


def test_insertion_leaves_every_other_byte(cases: Cases) -> None:
    cases.check(_insertion_leaves_every_other_byte)


def _insertion_leaves_every_other_byte(case: Case) -> None:
    if case.item.name == SHEETS:
        return  # refused: tests/notebook/formats/test_nbformat3.py
    places = [None, *(case.cells[index].id for index in case.places)]
    for after_id in places:
        edit = CellInsert(
            cell_id=NEW,
            cell_type="code",
            source=SOURCE,
            metadata={"tags": ["é"]},
            after=after_id,
            outputs=OUTPUTS,
            execution_count=2,
        )
        after = case.edited(edit)
        index = 0 if after_id is None else position(case.cells, after_id) + 1
        found = locate(after)
        texts = found.texts()
        del texts[index]
        assert texts == case.before.texts()
        assert (found.head, found.tail) == (case.before.head, case.before.tail)
        if case.cells:
            assert set(case.before.gaps) <= set(found.gaps)
        cell = case.cells_after[index]
        assert (cell.source, cell.outputs) == (SOURCE, OUTPUTS)
        now = loaded(after)
        stored = listed(now).pop(index)
        assert same(now, case.data())
        assert ("id" in stored) == (not case.is_old and case.data().get("nbformat_minor") in {5, 6})


def position(cells: Sequence[NotebookCell], cell_id: CellId) -> int:
    return next(index for index, cell in enumerate(cells) if cell.id == cell_id)


def test_deletion_leaves_every_other_byte(cases: Cases) -> None:
    cases.check(_deletion_leaves_every_other_byte)


def _deletion_leaves_every_other_byte(case: Case) -> None:
    if case.item.name == SHEETS:
        return  # refused: tests/notebook/formats/test_nbformat3.py
    for index in case.places:
        if case.cells[index].metadata.get("deletable") is False:
            continue
        after = case.edited(CellDelete(cell_id=case.cells[index].id))
        found = locate(after)
        texts = case.before.texts()
        del texts[index]
        assert found.texts() == texts
        assert (found.head, found.tail) == (case.before.head, case.before.tail)
        if found.cells:
            assert (found.gaps[0], found.gaps[-1]) == (case.before.gaps[0], case.before.gaps[-1])
        data = case.data()
        del listed(data)[index]
        assert same(loaded(after), data)


def test_move_leaves_every_byte_of_the_cells(cases: Cases) -> None:
    cases.check(_move_leaves_every_byte_of_the_cells)


def _move_leaves_every_byte_of_the_cells(case: Case) -> None:
    count = len(case.cells)
    if count < 2 or case.item.name == SHEETS:
        return
    moves = ((0, count - 1), (count - 1, None), (count // 2, 0))
    for index, after_index in moves[: 1 if len(case.item.content) > LARGE else 3]:
        target = None if after_index is None else case.cells[after_index].id
        after = case.edited(CellMove(cell_id=case.cells[index].id, after=target))
        found = locate(after)
        order = list(range(count))
        order.remove(index)
        order.insert(0 if after_index is None else order.index(after_index) + 1, index)
        before = case.before.texts()
        assert found.texts() == [before[cell] for cell in order]
        assert (found.head, found.tail) == (case.before.head, case.before.tail)
        data = case.data()
        cells = listed(data)
        cells[:] = [cells[cell] for cell in order]
        assert same(loaded(after), data)


def test_cells_are_what_python_reads(cases: Cases) -> None:
    cases.check(_cells_are_what_python_reads)


def _cells_are_what_python_reads(case: Case) -> None:
    data = listed(case.data())
    assert len(case.cells) == len(data)
    assert len({cell.id for cell in case.cells}) == len(case.cells)
    if case.is_old:
        return
    for cell, stored in zip(case.cells, data, strict=True):
        source = joined(stored.get("source", ""))
        assert cell.source == source.encode(errors="replace").decode() or "\ufffd" in cell.source
        assert cell.cell_type == stored["cell_type"]


# another reader


NODE = """
const text = require('fs').readFileSync(0, 'utf8');
const assert = require('assert');
for (const { id, before, after, index, key, source } of JSON.parse(text)) {
  const cells = data => data.worksheets ? data.worksheets.flatMap(one => one.cells) : data.cells;
  const [old, now] = [JSON.parse(before), JSON.parse(after)];
  const written = cells(now)[index][key];
  cells(old)[index][key] = written;
  assert.deepStrictEqual(now, old, id);
  assert.strictEqual([].concat(written).join(''), source, id);
}
"""


def test_what_is_written_is_what_node_reads(tmp_path: Path, workspace: Workspace) -> None:
    node = shutil.which("node")
    assert node is not None, "make env installs Node"
    tried: list[dict[str, Any]] = []
    for item in ITEMS:
        if b"NaN" in item.content:
            continue  # invalid JSON that Jupyter reads
        case = Case(tmp_path, workspace, item)
        for index in case.places[-1:]:
            after = case.edited(CellSource(cell_id=case.cells[index].id, source=SOURCE))
            key = source_key(listed(case.data())[index])
            texts = {
                "before": case.text.removeprefix("\ufeff"),
                "after": after.removeprefix("\ufeff"),
            }
            tried.append({"id": item.id, **texts, "index": index, "key": key, "source": SOURCE})
    asked = json.dumps(tried).encode()
    done = subprocess.run(
        [node, "-e", NODE], input=asked, capture_output=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    assert len(tried) > 200


# files that are not notebooks


@pytest.mark.parametrize("item", broken(), ids=[item.name for item in broken()])
@pytest.mark.parametrize("act", ["read", "edit"])
def test_broken_file_is_named_and_never_written(
    tmp_path: Path, workspace: Workspace, item: BrokenItem, act: str
) -> None:
    file = tmp_path / "broken.ipynb"
    file.write_bytes(item.content)
    files = NotebookFiles(workspace, NotebookTrust())
    path = workspace.path("broken.ipynb")
    actions: dict[str, Callable[[WorkspacePath], object]] = {
        "read": lambda path: files.snapshot(path, ()),
        "edit": lambda path: files.edit(path, [CellSource(cell_id=NEW, source="x")], {}),
    }
    with pytest.raises(InvalidNotebook, match=item.problem) as raised:
        actions[act](path)
    assert file.read_bytes() == item.content
    info = raised.value.info
    assert info.message.startswith("broken.ipynb is not a valid notebook")
    assert "Nothing was changed." in info.message
    assert info.hint
    details = info.details
    assert details is not None
    assert item.line in (0, details["line"]), info.message
    assert isinstance(details["column"], int)
