import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.testing.memory_notebooks import memory_cell
from jupyter_ai_shoulders.wire.base import JsonObject
from tests.tools.image_outputs import DRAWN, PLOT, images, png, printed, shown
from tests.tools.notebook_conversation import NotebookConversation, text_of


def talk(*outputs: JsonObject) -> NotebookConversation:
    return NotebookConversation(
        memory_cell("a", "plot()", outputs=outputs), memory_cell("m", "text", "markdown")
    )


async def test_outputs_are_read_whole_and_page_by_page():
    text = "".join(f"line {number}\n" for number in range(9_000))
    conversation = talk(printed("first\n"), printed(text))
    pieces: list[str] = []
    offset: int | None = 0
    while offset is not None:
        result = await conversation.call("read_cell_output", cell_id="a", offset=offset)
        pieces.append(text_of(result).partition("\n")[2])
        assert isinstance(result.envelope.data, dict)
        after = result.envelope.data["next_offset"]
        assert after is None or isinstance(after, int)
        offset = after
    assert len(pieces) > 1
    assert "".join(pieces) == f"--- output 0 · stream\nfirst\n--- output 1 · stream\n{text[:-1]}"


async def test_one_output_is_read_by_its_index():
    result = await talk(printed("first"), printed("second")).call(
        "read_cell_output", cell_id="a", index=1
    )
    assert "second" in text_of(result)
    assert "first" not in text_of(result)
    missing = await talk(printed("first")).call("read_cell_output", cell_id="a", index=1)
    assert not missing.ok
    assert "has 1 outputs" in text_of(missing)


async def test_picture_is_looked_at():
    result = await talk(PLOT, printed("done")).call(
        "read_cell_output", cell_id="a", **{"as": "image"}
    )
    assert images(result) == [png()]
    assert text_of(result) == "Output 0 of Cell 1 (id=a)"


async def test_plot_is_drawn_by_a_page():
    conversation = talk(DRAWN)
    refused = await conversation.call("read_cell_output", cell_id="a", **{"as": "image"})
    assert not refused.ok
    assert "only a page that shows the notebook can draw it" in text_of(refused)
    conversation.browser.drawn[0] = png(3, 3)
    result = await conversation.call("read_cell_output", cell_id="a", **{"as": "image"})
    assert images(result) == [png(3, 3)]


@pytest.mark.parametrize("data", ["%%%", "bm8gcGljdHVyZQ=="])
async def test_damaged_picture_is_left_to_text(data: str):
    result = await talk(shown(image__png=data)).call(
        "read_cell_output", cell_id="a", **{"as": "image"}
    )
    assert not result.ok
    assert "not shown as a picture" in text_of(result)


async def test_what_has_no_picture_or_no_output_says_so():
    conversation = talk(printed("text"))
    result = await conversation.call("read_cell_output", cell_id="a", **{"as": "image"})
    assert "has no picture there" in text_of(result)
    assert not (await talk().call("read_cell_output", cell_id="a")).ok
    with pytest.raises(InvalidRequest, match="markdown cell"):
        await conversation.call("read_cell_output", cell_id="m")
    with pytest.raises(NotFound):
        await conversation.call("read_cell_output", cell_id="x")
