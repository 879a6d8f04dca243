"""``todo`` reads a markdown checklist and gives what the conversation shows."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.tools.conversation.todo import Todo, checklist
from jupyter_ai_shoulders.wire.events import TodoItem, TodoUpdate, ToolResult
from tests.engine.engine_harness import make_engine


def item(text: str, depth: int = 0, *, done: bool = False) -> TodoItem:
    return TodoItem(text=text, done=done, depth=depth)


LISTS = {
    "blank": ("", ()),
    "marks": (
        "- [ ] Read\n- [x] Fix\n- [X] Run",
        (item("Read"), item("Fix", done=True), item("Run", done=True)),
    ),
    "levels": (
        "- [ ] a\n  - [ ] b\n    - [x] c\n      - [ ] d",
        (item("a"), item("b", 1), item("c", 2, done=True), item("d", 3)),
    ),
    "other lines": (
        "Plan:\n\n# T\n- [ ] a  \n- b\n* [ ] c\n- [y] d\n- []e\n        - [ ] deep",
        (item("a"),),
    ),
    "no text": ("- [ ] \n- [ ]x", ()),
}


@pytest.mark.parametrize(("markdown", "items"), LISTS.values(), ids=LISTS.keys())
def test_checklist_is_its_items(markdown: str, items: tuple[TodoItem, ...]):
    assert checklist(markdown) == items


async def test_list_is_replaced_whole_and_told_after_the_result():
    w = make_engine(
        turn(Call("todo", {"markdown": "- [ ] Read\n- [ ] Fix"})),
        turn(Call("todo", {"markdown": "- [x] Read"}), Call("todo", {"markdown": "- [x] Read"})),
        "Done.",
        loop=[Todo()],
    )
    await w.say()
    assert [event.items for event in w.of(TodoUpdate)] == [
        (item("Read"), item("Fix")),
        (item("Read", done=True),),
    ]
    names = [event.type for event in w.events if isinstance(event, TodoUpdate | ToolResult)]
    assert names == ["tool-result", "todo-update", "tool-result", "todo-update", "tool-result"]


async def test_text_without_items_is_refused_and_shows_nothing():
    w = make_engine(
        turn(Call("todo", {"markdown": "First I read the notebook."}, "c1")),
        "Sorry.",
        loop=[Todo()],
    )
    await w.say()
    assert w.results() == [("c1", "error")]
    assert not w.of(TodoUpdate)


async def test_blank_text_clears_the_list():
    w = make_engine(turn(Call("todo", {"markdown": " "})), "Cleared.", loop=[Todo()])
    await w.say()
    assert [event.items for event in w.of(TodoUpdate)] == [()]
