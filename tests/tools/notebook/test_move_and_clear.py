import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.testing.memory_notebooks import memory_cell
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.notebooks import CellOutputs
from tests.tools.notebook_conversation import NotebookConversation, text_of

PRINTED: JsonObject = {"output_type": "stream", "name": "stdout", "text": "1\n"}


def three() -> NotebookConversation:
    return NotebookConversation(*(memory_cell(name, name) for name in ("a", "b", "c")))


@pytest.mark.parametrize(
    ("cell", "after", "order", "number", "where"),
    [
        ("a", "c", "bca", 3, "below cell 3"),
        ("a", "b", "bac", 2, "below cell 2"),
        ("c", None, "cab", 1, "to the top"),
        ("c", "a", "acb", 2, "below cell 1"),
        ("b", None, "bac", 1, "to the top"),
    ],
)
async def test_cell_is_moved_without_having_been_read(
    cell: str, after: str | None, order: str, number: int, where: str
):
    talk = three()
    subject = await talk.subject("move_cell", cell_id=cell, after=after)
    assert subject.title == f"Move cell {'abc'.index(cell) + 1} {where}"
    assert subject.undoable
    result = await talk.call("move_cell", cell_id=cell, after=after)
    assert talk.sources() == list(order)
    assert f"was moved {where}: it is cell {number} now" in text_of(result)


async def test_cell_that_stands_there_is_said_to():
    result = await three().call("move_cell", cell_id="b", after="a")
    assert "stands there already" in text_of(result)


async def test_cells_that_do_not_exist_cannot_be_moved_or_moved_below():
    talk = three()
    for arguments in ({"cell_id": "x", "after": None}, {"cell_id": "a", "after": "x"}):
        with pytest.raises(NotFound, match="'x'"):
            await talk.call("move_cell", **arguments)
    with pytest.raises(InvalidRequest, match="below itself"):
        await talk.call("move_cell", cell_id="a", after="a")
    assert talk.sources() == ["a", "b", "c"]


async def test_outputs_of_all_code_cells_are_cleared_as_one_step():
    talk = NotebookConversation(
        memory_cell("a", "print(1)", outputs=[PRINTED]),
        memory_cell("b", "# text", "markdown"),
        memory_cell("c", "print(2)", outputs=[PRINTED]),
        memory_cell("d", "x = 1"),
    )
    assert (await talk.subject("clear_outputs")).title == "Clear the outputs of 2 cells"
    result = await talk.call("clear_outputs")
    assert "outputs of 2 cells were cleared" in text_of(result)
    assert [cell.outputs for cell in talk.notebook.cells] == [()] * 4
    cleared = [edit.cell_id for edit in talk.notebook.applied if isinstance(edit, CellOutputs)]
    assert cleared == ["a", "c"]
    assert text_of(await talk.call("clear_outputs")) == "No cell has outputs."
