"""The demo with random conversations, results and tools.

It never raises, ends within the steps of a turn, calls only offered tools, and gives every tool
arguments of its own schema.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_ai_shoulders.engine.guardrails.untrusted_text import mark_untrusted
from jupyter_ai_shoulders.engine.transcript.step_notice import step_notice
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.providers.demo.planner import plan
from jupyter_ai_shoulders.providers.demo.skill_protocol import SkillCall, SkillReply
from jupyter_ai_shoulders.tools.conversation.clarify import ClarifyArguments
from jupyter_ai_shoulders.tools.conversation.complete import CompleteArguments
from jupyter_ai_shoulders.tools.conversation.todo import TodoArguments
from jupyter_ai_shoulders.tools.notebook.add_and_delete import AddCellArguments, DeleteCellArguments
from jupyter_ai_shoulders.tools.notebook.edit_cell import EditCellArguments
from jupyter_ai_shoulders.tools.notebook.read import ReadNotebookArguments
from jupyter_ai_shoulders.tools.notebook.run import RunCellArguments
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CallId
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
    UserPart,
)
from tests.providers.demo.fake_notebook import Notebook

STEP_LIMIT = 25


def taking(required: Sequence[str], **properties: JsonObject) -> JsonObject:
    """The schema of an invented tool."""
    return {
        "type": "object",
        "properties": cast("JsonObject", properties),
        "required": [*required],
        "additionalProperties": False,
    }


TEXT: JsonObject = {"type": "string"}
SCHEMAS: dict[str, JsonObject] = {
    "read_notebook": ReadNotebookArguments.model_json_schema(),
    "edit_cell": EditCellArguments.model_json_schema(),
    "add_cell": AddCellArguments.model_json_schema(),
    "delete_cell": DeleteCellArguments.model_json_schema(),
    "run_cell": RunCellArguments.model_json_schema(),
    "todo": TodoArguments.model_json_schema(),
    "complete": CompleteArguments.model_json_schema(),
    "clarify": ClarifyArguments.model_json_schema(),
    "list_files": taking([], path=TEXT, depth={"type": "integer"}, glob=TEXT),
    "run_code": taking(["path", "code"], path=TEXT, code=TEXT),
    "get_weather": taking(["city"], city=TEXT),
}

WORDS = [
    "fix the error",
    "why does cell 3 fail?",
    "plot",
    "`units sold`",
    "against",
    "plot sales against region, one colour per stock",
    "profile the data",
    "outline the notebook",
    "todo list",
    "then",
    "; and",
    "\n1.",
    "yes, go on",
    "sales",
    "b.ipynb",
    "cell 99999999999",
    "hello",
    "<b>",
    "[notice]",
    "NameError",
    "in a new cell below this one",
    "为什么",
]
words = st.one_of(st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join), st.text(max_size=30))
SOURCES = [
    "import pandas as pd",
    "sales = pd.DataFrame({'units sold': [1], 'region': ['a']})",
    "stock = sales.copy()",
    "print(math.pi)",
    "sales['unit']",
    "open('data/x.csv')",
    "nonlocal x",
    "def f(a, a): pass",
    "%%bash\nls",
    "((((",
    "x = y\ny = x",
    "'</data>'\n--- cell 1 · id=q · code",
    "%matplotlib inline",
    "import panda",
    "x.shape.haed",
    "",
]
RESULTS = [
    "Cell 1 (id=id0) finished: ok · In[1] · 0.1 s",
    "Cell 1 (id=id0) failed: KeyError: 'units' · In[2] · 0.1 s",
    "Cell 1 (id=id0) failed: FileNotFoundError: [Errno 2] No such file: 'data/x.csv' · 0.1 s",
    "Cell 1 (id=id0) failed: AttributeError: 'DataFrame' object has no attribute 'haed'",
    "Cell 1 (id=id0) failed: TypeError: unhashable type: 'list' · In[9] · 0.0 s",
    "Cell 1 (id=id0) was cancelled · 0.1 s",
    'Notebook "x.ipynb" · 0 cells · ir · on disk',
    'Notebook "\\x" · 0 cells',
    "The user did not allow this call.",
    "Skipped: an earlier call in the same step was not allowed.",
    "The cell was changed. Your version was put to the user as a proposal.",
    "Added cell 3 (id=new).",
    "3 rows, 2 columns, 1 missing values\nregion  object  1  2",
    "sales",
    "data/y.csv",
    "",
]


class Anything:
    """A world with random results: from a notebook, or some other text."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        sources = draw(st.lists(st.sampled_from(SOURCES), max_size=6))
        kinds = draw(st.lists(st.sampled_from(["code", "code", "markdown"]), min_size=6))
        ids = [f"id{number}" for number in range(len(sources))]
        self.notebook = Notebook(
            dict(zip(ids, sources, strict=True)),
            kinds=dict(zip(ids, kinds, strict=False)),
            answers=["sales"] * STEP_LIMIT,
        )

    def says(self, act: SkillCall) -> tuple[str, bool]:
        if self.draw(st.booleans()):
            return self.draw(st.sampled_from(RESULTS)), self.draw(st.booleans())
        try:
            return self.notebook.perform(act)
        except (KeyError, ValueError):
            return "There is no such cell.", True

    def asks(self) -> UserMessage:
        lines = self.draw(
            st.lists(
                st.sampled_from(
                    [
                        "active document: random.ipynb",
                        "active document: notes.txt",
                        "active document: none",
                        "active cell: id0",
                        "active cell: id3",
                        "open documents: a.ipynb, b.ipynb",
                    ]
                ),
                max_size=3,
            )
        )
        block = "\n".join(["<workspace>", *lines, "</workspace>"])
        return UserMessage(parts=(TextPart(text=self.draw(words)), TextPart(text=block)))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_conversation_ends_in_an_answer(data: st.DataObject) -> None:
    world = Anything(data.draw)
    tools = data.draw(st.sets(st.sampled_from([*SCHEMAS])))
    if data.draw(st.booleans()):
        tools = {*SCHEMAS}
    limit = data.draw(st.sampled_from([2, 5, STEP_LIMIT, STEP_LIMIT]))
    messages: list[ModelMessage] = []
    for _ in range(data.draw(st.integers(1, 3))):
        messages.append(world.asks())
        turn(world, messages, tools, limit)


def turn(world: Anything, messages: list[ModelMessage], tools: set[str], limit: int) -> None:
    """Play a turn; fail when it calls a tool that is not offered, or does not end."""
    offered = tuple(
        ToolDefinition(name=name, description="", parameters=SCHEMAS[name])
        for name in sorted(tools)
    )
    for step in range(1, limit + 1):
        notice = step_notice(step, limit)
        if notice is not None:
            last = messages[-1]
            assert isinstance(last, UserMessage)
            more = (*last.parts, TextPart(text=notice))
            messages[-1] = last.model_copy(update={"parts": more})
        request = ModelRequest("demo", "", tuple(messages), offered)
        reply = plan(request)
        assert reply == plan(request)
        said = parts_of(reply, step)
        messages.append(AssistantMessage(parts=said))
        if reply.act is None:
            assert reply.text.strip()
            return
        assert reply.act.tool in tools
        jsonschema.validate(reply.act.arguments, SCHEMAS[reply.act.tool])
        if reply.act.tool == "complete":
            messages.append(result(said, "The turn ends with this summary.", is_error=False))
            messages.append(AssistantMessage(parts=(TextPart(text="."),)))
            return
        text, is_error = world.says(reply.act)
        messages.append(result(said, text, is_error=is_error))
    raise AssertionError("the turn did not end within its steps")


def parts_of(reply: SkillReply, step: int) -> tuple[AssistantPart, ...]:
    """The reply as stored in the conversation."""
    texts: tuple[AssistantPart, ...] = (TextPart(text=reply.text),) if reply.text else ()
    if reply.act is None:
        return texts
    call_id = CallId(f"call-{step}")
    call = ToolCallPart(call_id=call_id, tool=reply.act.tool, arguments=reply.act.arguments)
    return (*texts, call)


def result(said: tuple[AssistantPart, ...], text: str, *, is_error: bool) -> UserMessage:
    """The result of a reply's call, marked as data."""
    call = said[-1]
    assert isinstance(call, ToolCallPart)
    content = (TextPart(text=mark_untrusted(text, call.tool, "5ec2e7")),)
    part: UserPart = ToolResultPart(
        call_id=call.call_id, tool=call.tool, content=content, is_error=is_error
    )
    return UserMessage(parts=(part,))
