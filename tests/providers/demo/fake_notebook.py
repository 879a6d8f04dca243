"""An in-memory notebook that the demo's calls change and run; libraries are small stand-ins.

The text of ``read_notebook`` and ``run_cell`` comes from the real renderer.
"""

from __future__ import annotations

import ast
import builtins
import io
import itertools
import types
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from jupyter_ai_shoulders.engine.transcript.step_notice import step_notice
from jupyter_ai_shoulders.notebook.base import CellRun, NotebookSnapshot
from jupyter_ai_shoulders.notebook.render import render_notebook, run_text
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.providers.demo.planner import plan
from jupyter_ai_shoulders.providers.demo.skill_protocol import SkillCall, SkillReply
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CallId, CellId, Version
from jupyter_ai_shoulders.wire.notebooks import NotebookCell, OutputSummary
from jupyter_ai_shoulders.wire.parts import (
    AssistantMessage,
    AssistantPart,
    ModelMessage,
    TextPart,
    ToolCallPart,
    ToolDefinition,
    ToolResultPart,
    UserMessage,
)

TOOLS = (
    "read_notebook",
    "edit_cell",
    "add_cell",
    "delete_cell",
    "run_cell",
    "run_all_cells",
)
LOOP_TOOLS = (*TOOLS, "todo", "clarify", "complete")
MAX_STEPS = 25

Refusal = Callable[[SkillCall], str | None]


def nothing(**_more: Any) -> None:
    """Draw nothing."""


class Column(list[Any]):
    """A column of the stand-in dataframe."""

    def dropna(self) -> Column:
        return self

    def value_counts(self) -> Any:
        return types.SimpleNamespace(plot=types.SimpleNamespace(bar=nothing))


class Frame:
    """A dataframe that has only columns."""

    def __init__(self, data: dict[str, list[Any]]) -> None:
        self.data = data
        self.columns = list(data)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, list):
            return Frame({name: self[name] for name in key})  # pyright: ignore[reportUnknownVariableType]: any keys
        return Column(self.data[key])

    def groupby(self, key: Any) -> list[tuple[Any, Frame]]:
        if isinstance(key, str):
            _ = self[key]
        return [("group", self)]

    def sort_values(self, key: str) -> Frame:
        _ = self[key]
        return self

    def head(self) -> Frame:
        return self

    def copy(self) -> Frame:
        return self

    def __repr__(self) -> str:
        return "  ".join(["", *self.columns])


@dataclass
class Axes:
    """Counts what is drawn."""

    drawn: list[str]
    fails: dict[str, Exception]

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name in self.fails:
            raise self.fails[name]
        return lambda *_args, **_more: self.drawn.append(name)


@dataclass
class Notebook:
    """Cells by id, a kernel's variables, and what was drawn."""

    cells: dict[str, str]
    tables: dict[str, dict[str, list[Any]]] = field(default_factory=dict[str, Any])
    kinds: dict[str, str] = field(default_factory=dict[str, str])
    path: str = "random.ipynb"
    refuse: Refusal = lambda act: None
    variables: dict[str, Any] = field(default_factory=dict[str, Any])
    runs: dict[str, CellRun] = field(default_factory=dict[str, CellRun])
    drawn: list[str] = field(default_factory=list[str])
    fails: dict[str, Exception] = field(default_factory=dict[str, Exception])
    names_new_cells: bool = True
    real: bool = False
    """Whether cells use the real libraries, and show their last expression."""
    metadata: JsonObject = field(
        default_factory=lambda: {"kernelspec": {"name": "python3", "language": "python"}}
    )
    answers: list[str] = field(default_factory=list[str])
    """The user's answers to questions, in order."""
    files: str = ""
    """The text of a file listing."""
    done: list[SkillCall] = field(default_factory=list[SkillCall])
    counter: Any = field(default_factory=lambda: itertools.count(1))

    # Tools

    def perform(self, act: SkillCall) -> tuple[str, bool]:
        """Run a call; return its text and whether it is an error."""
        self.done.append(act)
        refusal = self.refuse(act)
        if refusal is not None:
            return refusal, True
        cell_id = str(act.arguments.get("cell_id", ""))
        said = {"todo": "Noted.", "complete": "Noted.", "list_files": self.files}
        said |= {"run_code": self.files, "delete_cell": "Deleted."}
        match act.tool:
            case "read_notebook":
                text = self.read(act.arguments)
            case "edit_cell":
                self.cells[cell_id] = str(act.arguments["source"])
                text = f"Cell {self.number(cell_id)} was edited."
            case "add_cell":
                text = self.add(act.arguments)
            case "clarify":
                text = self.answers.pop(0)
            case "run_cell":
                ended = self.run(cell_id)
                return run_text(self.number(cell_id), CellId(cell_id), ended), ended.status != "ok"
            case _:
                text = said[act.tool]
        if act.tool == "delete_cell":
            del self.cells[cell_id]
        return text, False

    def read(self, arguments: JsonObject) -> str:
        asked = arguments.get("cells")
        cells = [CellId(str(one)) for one in asked] if isinstance(asked, list) else None
        outputs = bool(arguments.get("outputs")) or cells is not None
        numbered = [self.snapshot(cell_id, outputs) for cell_id in self.cells]
        snapshot = NotebookSnapshot(self.path, "live", tuple(numbered), self.metadata, dirty=True)
        return render_notebook(snapshot, cells).text

    def snapshot(self, cell_id: str, outputs: bool) -> NotebookCell:
        ended = self.runs.get(cell_id)
        shown = ended.outputs if ended else ()
        summary = [
            OutputSummary(kind=output["output_type"], mime_types=(), size=9)  # pyright: ignore[reportArgumentType]: nbformat's own word
            for output in shown
        ]
        return NotebookCell(
            id=CellId(cell_id),
            cell_type=self.kinds.get(cell_id, "code"),  # pyright: ignore[reportArgumentType]: the test's own word
            source=self.cells[cell_id],
            version=Version("0"),
            metadata={},
            execution_count=ended.execution_count if ended else None,
            output_summary=tuple(summary),
            outputs=shown if outputs else None,
        )

    def add(self, arguments: JsonObject) -> str:
        new, after = f"new-{next(self.counter)}", arguments.get("after")
        order = list(self.cells.items())
        at = list(self.cells).index(str(after)) + 1 if after else len(order)
        order.insert(at, (new, str(arguments["source"])))
        self.cells = dict(order)
        return f"Added cell {at + 1}" + (f" (id={new})." if self.names_new_cells else ".")

    def number(self, cell_id: str) -> int:
        return list(self.cells).index(cell_id) + 1

    # Kernel

    def run(self, cell_id: str) -> CellRun:
        """Run a cell in this notebook's variables."""
        printed, outputs = io.StringIO(), list[JsonObject]()
        importer = __import__ if self.real else self.import_module
        self.variables["__builtins__"] = {**vars(builtins), "__import__": importer}
        failure = None
        try:
            with redirect_stdout(printed):
                shown = self.execute(self.cells[cell_id])
            if shown is not None:
                data: JsonObject = {"text/plain": repr(shown)}
                outputs.append({"output_type": "execute_result", "data": data, "metadata": {}})
        except Exception as error:  # noqa: BLE001 - whatever the cell raises is its output
            failure = f"{type(error).__name__}: {error}"
            raised: JsonObject = {
                "output_type": "error",
                "ename": type(error).__name__,
                "evalue": str(error),
                "traceback": [],
            }
            outputs.append(raised)
        if printed.getvalue():
            outputs.insert(
                0, {"output_type": "stream", "name": "stdout", "text": printed.getvalue()}
            )
        status = "ok" if failure is None else "error"
        ended = CellRun(status, tuple(outputs), next(self.counter), 5, "k", failure)
        self.runs[cell_id] = ended
        return ended

    def execute(self, source: str) -> Any:
        """Run code; return the value of its last expression where the notebook shows those."""
        tree = ast.parse(source)
        last = tree.body[-1] if self.real and tree.body else None
        if not isinstance(last, ast.Expr):
            exec(source, self.variables)
            return None
        exec(compile(ast.Module(tree.body[:-1], []), "cell", "exec"), self.variables)
        return eval(compile(ast.Expression(last.value), "cell", "eval"), self.variables)

    def import_module(self, name: str, *args: Any) -> Any:
        stand_ins: dict[str, Any] = {
            "pandas": types.SimpleNamespace(read_csv=lambda path: Frame(self.tables[path])),  # pyright: ignore[reportUnknownLambdaType]: a path
            "matplotlib.pyplot": types.SimpleNamespace(pyplot=self.pyplot()),
        }
        return stand_ins.get(name) or __import__(name, *args)

    def pyplot(self) -> Any:
        axes = Axes(self.drawn, self.fails)
        return types.SimpleNamespace(
            subplots=lambda figsize: (None, axes),  # pyright: ignore[reportUnknownLambdaType]: a pair of numbers
            show=lambda: None,
        )


@dataclass
class DemoConversation:
    """A conversation with the demo about one notebook."""

    notebook: Notebook
    tools: Sequence[str] = TOOLS
    messages: list[ModelMessage] = field(default_factory=list[ModelMessage])
    limit: int | None = None
    """Steps of the turn; None: unlimited."""
    taken: int = 0

    @property
    def done(self) -> list[str]:
        """The calls in short: ``run_cell b``."""
        return [
            " ".join(filter(None, (act.tool, str(act.arguments.get("cell_id") or ""))))
            for act in self.notebook.done
        ]

    def ask(
        self,
        text: str,
        active: str | None = None,
        document: str | None = "",
        opened: Sequence[str] = (),
    ) -> str:
        """Send a request; return the final answer, after all calls were made."""
        lines = ["<workspace>"]
        path = self.notebook.path if document == "" else document
        lines += [f"active document: {path}"] if path else []
        lines += [f"active cell: {active}"] if active else []
        lines += [f"open documents: {', '.join(opened)}"] if opened else []
        said = TextPart(text=text), TextPart(text="\n".join([*lines, "</workspace>"]))
        self.messages.append(UserMessage(parts=said))
        for _ in range(MAX_STEPS):
            reply = self.step()
            if reply.act is None:
                self.messages.append(AssistantMessage(parts=(TextPart(text=reply.text),)))
                return reply.text
            self.answer(reply, reply.act)
        raise AssertionError("The demo does not come to an end.")

    def step(self) -> SkillReply:
        tools = tuple(
            ToolDefinition(name=name, description="", parameters={}) for name in self.tools
        )
        if self.limit is not None:
            self.taken += 1
            self.remark(step_notice(self.taken, self.limit))
        request = ModelRequest("demo", "", tuple(self.messages), tools)
        reply = plan(request)
        assert reply == plan(request)
        return reply

    def remark(self, notice: str | None) -> None:
        """Add a notice to the last message."""
        last = self.messages[-1]
        if notice is not None and isinstance(last, UserMessage):
            parts = (*last.parts, TextPart(text=notice))
            self.messages[-1] = last.model_copy(update={"parts": parts})

    def answer(self, reply: SkillReply, act: SkillCall) -> None:
        call_id = CallId(f"call-{len(self.messages)}")
        call = ToolCallPart(call_id=call_id, tool=act.tool, arguments=act.arguments)
        parts: tuple[AssistantPart, ...] = (call,)
        if reply.text:
            parts = (TextPart(text=reply.text), call)
        self.messages.append(AssistantMessage(parts=parts))
        text, is_error = self.notebook.perform(act)
        result = ToolResultPart(
            call_id=call_id, tool=act.tool, content=(TextPart(text=text),), is_error=is_error
        )
        self.messages.append(UserMessage(parts=(result,)))
