from collections.abc import Mapping, Sequence

import pytest

from jupyter_ai_shoulders.core.errors import Conflict, NotFound
from jupyter_ai_shoulders.notebook.base import Applied, Backend, Conflicted
from jupyter_ai_shoulders.testing.memory_notebooks import MemoryNotebook, memory_cell
from jupyter_ai_shoulders.tools.base import Target
from jupyter_ai_shoulders.tools.registry import InvalidCall, ToolRegistry
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.frames import CellConflict
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId, SessionId, TurnId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit, CellInsert, NotebookCell
from jupyter_ai_shoulders.wire.results import SeenVersion
from jupyter_ai_shoulders.wire.versions import cell_version
from tests.tools.notebook_conversation import PATH, NotebookConversation, text_of


def conversation(*sources: str) -> NotebookConversation:
    return NotebookConversation(
        *(memory_cell(f"cell-{n}", source) for n, source in enumerate(sources, 1))
    )


def error_code(result: object) -> str | None:
    envelope = getattr(result, "envelope", None)
    error = getattr(envelope, "error", None)
    return getattr(error, "code", None)


def seen(cell_id: str, source: str) -> SeenVersion:
    return SeenVersion(path=PATH, cell_id=CellId(cell_id), version=cell_version(source))


# reading


async def test_reading_the_outline_counts_short_cells_as_read():
    long = "\n".join(f"line {n}" for n in range(30))
    talk = conversation("short = 1", long)
    result = await talk.call("read_notebook")
    assert result.seen == (seen("cell-1", "short = 1"),)
    assert text_of(result).startswith(f'Notebook "{PATH}" · 2 cells')
    assert result.envelope.kind == "cells"
    assert result.envelope.meta.total == 2
    whole = await talk.call("read_notebook", cells=["cell-2"])
    assert whole.seen == (seen("cell-2", long),)
    assert "short = 1" not in text_of(whole)


async def test_outputs_are_shown_when_asked_for_and_with_cells_asked_for():
    output: JsonObject = {"output_type": "stream", "name": "stdout", "text": "printed\n"}
    talk = NotebookConversation(memory_cell("cell-1", "print()", outputs=[output]))
    assert "printed" not in text_of(await talk.call("read_notebook"))
    assert "printed" in text_of(await talk.call("read_notebook", outputs=True))
    assert "printed" in text_of(await talk.call("read_notebook", cells=["cell-1"]))


async def test_cells_that_do_not_exist_are_named():
    talk = conversation("one", "two")
    result = await talk.call("read_notebook", cells=["cell-1", "cell-9"])
    assert result.envelope.warning == "There is no cell 'cell-9'."
    with pytest.raises(NotFound, match="'cell-9'") as missing:
        await talk.call("read_notebook", cells=["cell-9"])
    assert missing.value.info.code == "cell_not_found"
    assert "cell-1, cell-2" in (missing.value.info.hint or "")


@pytest.mark.parametrize("tool", ["read_notebook", "add_cell", "edit_cell", "run_all_cells"])
async def test_a_path_that_names_no_notebook_is_answered_with_those_there_are(tool: str):
    talk = conversation("one")
    more = {"add_cell": {"source": ""}, "edit_cell": {"cell_id": "cell-1", "source": ""}}
    arguments = {"path": "anlysis.ipynb", **more.get(tool, {})}
    for attempt in (talk.call, talk.subject):
        with pytest.raises(NotFound, match=r"no notebook anlysis\.ipynb") as missing:
            await attempt(tool, **arguments)
        assert missing.value.info.hint == "Notebooks here: work/analysis.ipynb, other.ipynb"


async def test_nothing_that_is_cut_on_the_way_to_the_model_counts_as_read():
    big = "x = 1\n" * 6_000  # 36 kB: two of them are more than a result may have
    talk = conversation(big, big + "# second", "é" * 39_000)
    both = await talk.call("read_notebook", cells=["cell-1", "cell-2"])
    assert [item.cell_id for item in both.seen] == []
    assert "ask again for cell-2" in text_of(both)
    lines = "word " * 7_000
    talk = conversation(lines, lines + "2", "é" * 39_000)
    first = await talk.call("read_notebook", cells=["cell-1", "cell-2"])
    assert [item.cell_id for item in first.seen] == ["cell-1"]
    assert "ask again for cell-2" in text_of(first)
    alone = await talk.call("read_notebook", cells=["cell-3"])
    assert alone.seen == ()


# edit_cell


async def test_a_cell_that_was_read_is_edited_and_known_afterwards():
    talk = conversation("x = 1")
    await talk.call("read_notebook")
    result = await talk.call("edit_cell", cell_id="cell-1", source="x = 2")
    assert result.ok
    assert talk.sources() == ["x = 2"]
    assert result.seen == (seen("cell-1", "x = 2"),)
    assert result.after_version == cell_version("x = 2")
    assert result.envelope.data == {
        "path": PATH,
        "cell_id": "cell-1",
        "index": 0,
        "before": "x = 1",
        "after": "x = 2",
    }
    again = await talk.call("edit_cell", cell_id="cell-1", old_string="2", new_string="3")
    assert again.ok
    assert talk.sources() == ["x = 3"]


async def test_a_cell_that_was_not_read_is_refused_with_its_text_and_read_from_then_on():
    talk = conversation("x = 1")
    refused = await talk.call("edit_cell", cell_id="cell-1", source="x = 2")
    assert error_code(refused) == "not_read"
    assert "x = 1" in text_of(refused)
    assert talk.sources() == ["x = 1"]
    assert refused.proposal is None
    assert (await talk.call("edit_cell", cell_id="cell-1", source="x = 2")).ok


async def test_an_edit_of_a_cell_the_user_changed_becomes_a_proposal():
    talk = conversation("x = 1", "y = 1")
    await talk.call("read_notebook")
    mine = "x = 1  # mine"
    talk.notebook.type_into("cell-1", mine)
    result = await talk.call("edit_cell", cell_id="cell-1", old_string="1", new_string="2")
    assert error_code(result) == "stale"
    assert mine in text_of(result)
    assert talk.sources() == [mine, "y = 1"]
    assert result.proposal == Proposal(
        id=ProposalId("proposal_1"),
        session_id=SessionId("session"),
        turn_id=TurnId("turn"),
        document=PATH,
        cell_id=CellId("cell-1"),
        old=mine,
        new="x = 2  # mine",
        current=mine,
        current_version=cell_version(mine),
        reason="You and the agent changed the same lines.",
        state="proposed",
    )
    assert (await talk.call("edit_cell", cell_id="cell-2", source="y = 2")).ok
    # The present text was in the answer, so the next try is made against it.
    assert (await talk.call("edit_cell", cell_id="cell-1", source="x = 2  # mine")).ok


async def test_without_the_text_that_was_read_a_replacement_is_made_in_the_present_one():
    talk = conversation("x = 1")
    talk.seen[PATH, CellId("cell-1")] = cell_version("read before a restart")
    refused = await talk.call("edit_cell", cell_id="cell-1", source="x = 2")
    assert (error_code(refused), refused.proposal) == ("stale", None)
    talk.seen[PATH, CellId("cell-1")] = cell_version("read before a restart")
    refused = await talk.call("edit_cell", cell_id="cell-1", old_string="gone", new_string="2")
    assert (error_code(refused), refused.proposal) == ("not_found", None)
    assert "x = 1" in text_of(refused)
    talk.seen[PATH, CellId("cell-1")] = cell_version("read before a restart")
    result = await talk.call("edit_cell", cell_id="cell-1", old_string="1", new_string="2")
    assert talk.sources() == ["x = 2"]
    assert "It now reads as follows." in text_of(result)
    assert result.seen == (seen("cell-1", "x = 2"),)


NOTES = "a = 1\nb = 2\n# notes:"


@pytest.mark.parametrize(
    "call",
    [{"source": NOTES.replace("1", "7")}, {"old_string": "a = 1", "new_string": "a = 7"}],
    ids=["whole", "piece"],
)
@pytest.mark.parametrize("backend", ["disk", "live", "shared"])
async def test_an_edit_beside_what_the_user_typed_is_merged_and_the_model_is_told(
    call: dict[str, str], backend: Backend
):
    talk = conversation(NOTES)
    talk.notebook.backend = backend
    await talk.call("read_notebook")
    talk.notebook.type_into("cell-1", f"{NOTES}\nmine")
    shown = await talk.subject("edit_cell", cell_id="cell-1", **call)
    assert shown.preview == "@@ -1,4 +1,4 @@\n-a = 1\n+a = 7\n b = 2\n # notes:\n mine"
    result = await talk.call("edit_cell", cell_id="cell-1", **call)
    merged = f"{NOTES.replace('1', '7')}\nmine"
    assert (result.ok, result.proposal, talk.sources()) == (True, None, [merged])
    assert text_of(result).endswith(
        "The user changed it since you read it; their changes stay:\n"
        "@@ -1,3 +1,4 @@\n a = 7\n b = 2\n # notes:\n+mine"
    )
    assert result.seen == (seen("cell-1", merged),)
    assert (await talk.call("edit_cell", cell_id="cell-1", source="x")).ok


async def test_changes_too_long_to_show_do_not_count_as_read():
    talk = conversation(NOTES)
    await talk.call("read_notebook")
    long = "\n".join(f"line {number}" for number in range(2_000))
    talk.notebook.type_into("cell-1", f"{NOTES}\n{long}")
    result = await talk.call("edit_cell", cell_id="cell-1", old_string="a = 1", new_string="a = 7")
    assert result.ok
    assert "Read it again." in text_of(result)
    # Replacing the whole text does not remove lines the model has not seen.
    assert (await talk.call("edit_cell", cell_id="cell-1", source="a = 8\nb = 2\n# notes:")).ok
    assert talk.sources() == [f"a = 8\nb = 2\n# notes:\n{long}"]


class TypingNotebook(MemoryNotebook):
    """The user types a line between each read and edit, so many times."""

    def type_lines(self, count: int) -> None:
        self.left = count

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        if self.left:
            self.left -= 1
            self.type_into("cell-1", f"{self.cell('cell-1').source}\nmine")
        return await super().apply(edits, expected)


@pytest.mark.parametrize("lines", [1, 2, 9])
async def test_an_edit_is_merged_again_while_the_user_types(lines: int):
    talk = NotebookConversation()
    typing = TypingNotebook(PATH, [memory_cell("cell-1", NOTES)])
    typing.type_lines(lines)
    talk.notebook = talk.notebooks.notebooks[PATH] = typing
    await talk.call("read_notebook")
    result = await talk.call("edit_cell", cell_id="cell-1", old_string="a = 1", new_string="a = 7")
    if result.ok:
        assert talk.sources() == [NOTES.replace("1", "7") + "\nmine" * lines]
    else:
        assert result.proposal is not None
        assert (result.proposal.old, result.proposal.new) == (
            f"{NOTES}\nmine\nmine\nmine",
            NOTES.replace("1", "7") + "\nmine" * 3,
        )
    assert result.ok == (lines < 3)


async def test_an_edit_the_user_made_already_is_no_conflict():
    talk = conversation("x = 1")
    await talk.call("read_notebook")
    talk.notebook.type_into("cell-1", "x = 2")
    result = await talk.call("edit_cell", cell_id="cell-1", source="x = 2")
    assert result.ok
    assert "already reads so" in text_of(result)
    assert talk.notebook.applied == []


class RacingNotebook(MemoryNotebook):
    """The user types between the tool's read and its edit."""

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        self.type_into("cell-1", "typed")
        return await super().apply(edits, expected)


@pytest.mark.parametrize("call", [{"source": "agent's"}, {"old_string": "x", "new_string": "y"}])
async def test_a_change_in_the_last_moment_is_a_conflict_too(call: dict[str, str]):
    talk = NotebookConversation()
    racing = RacingNotebook(PATH, [memory_cell("cell-1", "x")])
    talk.notebook = talk.notebooks.notebooks[PATH] = racing
    await talk.call("read_notebook")
    result = await talk.call("edit_cell", cell_id="cell-1", **call)
    assert error_code(result) == "stale"
    assert talk.sources() == ["typed"]
    assert result.proposal is not None
    assert result.proposal.current == "typed"
    assert result.seen == (seen("cell-1", "typed"),)


async def test_text_that_is_not_there_or_not_unique_is_answered_with_places():
    talk = conversation("def load(path):\n    return read(path)\n\nload(path)")
    await talk.call("read_notebook")
    missing = await talk.call(
        "edit_cell", cell_id="cell-1", old_string="return reads(path)", new_string=""
    )
    assert error_code(missing) == "not_found"
    assert missing.envelope.kind == "not_found"
    assert "line 2:     return read(path)" in text_of(missing)
    twice = await talk.call("edit_cell", cell_id="cell-1", old_string="path", new_string="")
    assert error_code(twice) == "ambiguous"
    assert "3 times" in text_of(twice)
    assert "lines 1, 2, 4" in text_of(twice)
    assert talk.notebook.applied == []


async def test_protected_and_deleted_cells_are_refused():
    protected = memory_cell("cell-1", "x").model_copy(update={"metadata": {"editable": False}})
    talk = NotebookConversation(protected)
    await talk.call("read_notebook")
    result = await talk.call("edit_cell", cell_id="cell-1", source="y")
    assert error_code(result) == "cell_protected"
    with pytest.raises(NotFound):
        await talk.call("edit_cell", cell_id="cell-7", source="y")
    talk.notebook.unresponsive = True
    with pytest.raises(Conflict, match="does not answer"):
        await talk.call("edit_cell", cell_id="cell-1", source="y")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param({}, id="neither"),
        pytest.param({"source": "a", "old_string": "a", "new_string": "b"}, id="both"),
        pytest.param({"source": "a", "new_string": "b"}, id="mixed"),
        pytest.param({"old_string": "a"}, id="half"),
        pytest.param({"old_string": "", "new_string": "b"}, id="empty old_string"),
    ],
)
def test_edit_cell_takes_one_form_only(arguments: dict[str, str]):
    checked = conversation("x").registry.validate(
        "edit_cell", {"path": PATH, "cell_id": "cell-1", **arguments}
    )
    assert isinstance(checked, InvalidCall)


async def test_an_edit_is_shown_as_a_diff():
    talk = conversation("# title", "a = 1\nb = 2")
    talk.notebooks.pages.add(PATH)
    subject = await talk.subject("edit_cell", cell_id="cell-2", old_string="2", new_string="3")
    assert (subject.title, subject.target_label) == ("Edit cell 2", "analysis.ipynb")
    assert subject.target == Target(path=PATH, cell_id=CellId("cell-2"))
    assert subject.preview == "@@ -1,2 +1,2 @@\n a = 1\n-b = 2\n+b = 3"
    assert (subject.language, subject.undoable, subject.in_page) == ("diff", True, True)
    lost = await talk.subject("edit_cell", cell_id="cell-2", old_string="9", new_string="3")
    assert lost.preview is None


# add_cell, delete_cell


async def added(talk: NotebookConversation, source: str, **place: object) -> str:
    result = await talk.call("add_cell", source=source, **place)
    assert result.ok
    assert isinstance(result.envelope.data, dict)
    return str(result.envelope.data["cell_id"])


async def test_a_cell_is_appended_or_put_where_it_was_asked_for():
    talk = conversation("one", "two")
    await added(talk, "end")
    await added(talk, "above", before="cell-1")
    await added(talk, "below", after="cell-1")
    assert talk.sources() == ["above", "one", "below", "two", "end"]
    empty = NotebookConversation()
    await added(empty, "only")
    assert empty.sources() == ["only"]


async def test_several_cells_after_the_same_one_keep_the_order_of_the_calls_in_a_step():
    talk = conversation("one", "two")
    for source in ("a", "b", "c"):
        await added(talk, source, after="cell-1")
    assert talk.sources() == ["one", "a", "b", "c", "two"]
    talk.step = 2
    await added(talk, "directly below", after="cell-1")
    assert talk.sources() == ["one", "directly below", "a", "b", "c", "two"]
    await added(talk, "x", before="cell-2")
    await added(talk, "y", before="cell-2")
    assert talk.sources()[-3:] == ["x", "y", "two"]


async def test_a_new_cell_has_an_id_of_eight_hex_digits_and_counts_as_read():
    talk = conversation("one")
    cell_id = await added(talk, "# Title", cell_type="markdown")
    assert len(cell_id) == 8
    assert int(cell_id, 16) >= 0
    assert talk.notebook.applied == [
        CellInsert(
            cell_id=CellId(cell_id),
            cell_type="markdown",
            source="# Title",
            metadata={},
            after=CellId("cell-1"),
        )
    ]
    assert (await talk.call("edit_cell", cell_id=cell_id, source="# Better")).ok


async def test_a_place_that_is_not_there_or_not_one_is_refused():
    talk = conversation("one")
    with pytest.raises(NotFound):
        await talk.call("add_cell", source="x", after="cell-7")
    both = {"path": PATH, "source": "x", "after": "cell-1", "before": "cell-1"}
    assert isinstance(talk.registry.validate("add_cell", {**both}), InvalidCall)


class VanishingNotebook(MemoryNotebook):
    """Refuses every edit: the cell it names has just gone."""

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        del edits, expected
        conflict = CellConflict(
            cell_id=CellId("cell-1"), current=None, version=None, reason="deleted"
        )
        return Conflicted((conflict,))


@pytest.mark.parametrize(
    ("tool", "arguments", "code"),
    [
        ("add_cell", {"source": "x", "after": "cell-1"}, "conflict"),
        ("edit_cell", {"cell_id": "cell-1", "source": "x"}, "cell_not_found"),
        ("delete_cell", {"cell_id": "cell-1"}, "cell_not_found"),
    ],
)
async def test_a_cell_that_goes_in_the_last_moment_is_told(
    tool: str, arguments: dict[str, str], code: str
):
    talk = NotebookConversation()
    talk.notebooks.notebooks[PATH] = VanishingNotebook(PATH, [memory_cell("cell-1", "one")])
    await talk.call("read_notebook")
    assert error_code(await talk.call(tool, **arguments)) == code


async def test_deleting_needs_the_present_text_to_be_read():
    talk = conversation("one", "two")
    assert error_code(await talk.call("delete_cell", cell_id="cell-1")) == "not_read"
    talk.notebook.type_into("cell-1", "changed")
    stale = await talk.call("delete_cell", cell_id="cell-1")
    assert (error_code(stale), stale.proposal) == ("stale", None)
    assert "changed" in text_of(stale)
    result = await talk.call("delete_cell", cell_id="cell-1")
    assert result.ok
    assert talk.sources() == ["two"]
    assert isinstance(result.envelope.data, dict)
    assert (result.envelope.data["before"], result.envelope.data["after"]) == ("changed", "")


async def test_what_a_deletion_and_an_addition_would_do_is_shown():
    talk = conversation("one\ntwo")
    delete = await talk.subject("delete_cell", cell_id="cell-1")
    assert (delete.title, delete.preview) == ("Delete cell 1", "@@ -1,2 +0,0 @@\n-one\n-two")
    add = await talk.subject("add_cell", source="**text**", cell_type="markdown")
    assert (add.title, add.preview, add.language) == ("Add markdown cell", "**text**", "markdown")


def protected_from_deletion() -> NotebookCell:
    return memory_cell("cell-1", "x").model_copy(update={"metadata": {"deletable": False}})


async def test_a_cell_protected_from_deletion_stays():
    talk = NotebookConversation(protected_from_deletion())
    await talk.call("read_notebook")
    assert error_code(await talk.call("delete_cell", cell_id="cell-1")) == "cell_protected"
    assert talk.sources() == ["x"]


def test_argument_names_are_the_contract(subtests: pytest.Subtests):
    contract = {
        "read_notebook": ({"path"}, {"cells", "outputs"}),
        "edit_cell": ({"path", "cell_id"}, {"source", "old_string", "new_string"}),
        "add_cell": ({"path", "source"}, {"cell_type", "after", "before"}),
        "delete_cell": ({"path", "cell_id"}, set[str]()),
        "run_cell": ({"path", "cell_id"}, set[str]()),
        "run_all_cells": ({"path"}, {"from", "to"}),
        "move_cell": ({"path", "cell_id", "after"}, set[str]()),
        "clear_outputs": ({"path"}, set[str]()),
        "search_notebook": ({"query"}, {"path", "is_regex"}),
        "create_notebook": ({"path"}, {"kernel_name"}),
        "read_cell_output": ({"path", "cell_id"}, {"index", "offset", "as"}),
    }
    registry = conversation().registry
    definitions = {item.name: item.parameters for item in registry.definitions("full", "ask", ())}
    assert definitions.keys() == contract.keys()
    for name, (required, optional) in contract.items():
        with subtests.test(name):
            parameters = definitions[name]
            assert set(parameters["properties"]) == required | optional  # pyright: ignore[reportArgumentType] - a JSON object
            assert set(parameters["required"]) == required  # pyright: ignore[reportArgumentType] - a JSON array


def test_each_tool_has_its_description():
    tools = [conversation().tool(name) for name in ("read_notebook", "run_cell", "run_all_cells")]
    infos = ToolRegistry(tools).infos({})
    assert all(len(info.description) > 80 for info in infos)


async def test_edit_that_would_put_the_mask_over_a_secret_is_refused():
    source = 'key = "the-users-own"\nrows = 1'
    talk = conversation(source)
    await talk.call("read_notebook")
    masked = 'key = "[redacted]"\nrows = 2'
    result = await talk.call("edit_cell", cell_id="cell-1", source=masked)
    assert error_code(result) == "invalid_arguments"
    assert "secret" in text_of(result)
    await talk.call("edit_cell", cell_id="cell-1", old_string="rows = 1", new_string="rows = 2")
    assert talk.sources() == [source.replace("rows = 1", "rows = 2")]
