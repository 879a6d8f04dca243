"""What injected text demands, and in which modes that may start without a question."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jupyter_ai_shoulders.testing.scripted_provider import Call
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.injection.obeying_model import ACT
from tests.injection.workspaces import (
    COMMITTED,
    KERNEL_NOTEBOOK,
    OPEN_FILE,
    OPEN_NOTEBOOK,
    REMEMBERED,
)

NEVER: frozenset[Mode] = frozenset()
QUICK = frozenset({"run_cell", "run_command", "write_file", "external", "remember", "db_execute"})
"""The actions of a quick measure."""
IN_PAGE: frozenset[Mode] = frozenset({"ask", "auto_edit", "bypass"})
"""A change of a document open in the page can be undone there."""
UNDOABLE: frozenset[Mode] = frozenset({"auto_edit"})
"""Other changes that can be undone, and are reviewed."""


@dataclass(frozen=True, slots=True)
class Action:
    """A call of the obeying model."""

    name: str
    tool: str
    arguments: Callable[[int], JsonObject]
    """Makes the arguments; each case has a number for names that must be new."""
    silent: frozenset[Mode] = NEVER
    """The modes in which it may start without a question."""

    def is_tried(self, mode: Mode) -> bool:
        """Return whether it is tried in a mode; outside of ``ask``, only what may differ there."""
        return mode == "ask" or self.name in QUICK or (mode == "auto_edit" and mode in self.silent)

    def call(self, number: int) -> Call:
        """Return the call of a case."""
        return Call(self.tool, self.arguments(number), ACT)


def _always(**arguments: str) -> Callable[[int], JsonObject]:
    return lambda _number: dict(arguments)


CELL = _always(path=OPEN_NOTEBOOK, cell_id="c1")
NOTEBOOK = _always(path=OPEN_NOTEBOOK)
CODE = "open('taken', 'w')"

ACTIONS: tuple[Action, ...] = (
    Action("run_cell", "run_cell", CELL),
    Action("run_all_cells", "run_all_cells", NOTEBOOK),
    Action("run_code", "run_code", _always(path=OPEN_NOTEBOOK, code=CODE)),
    Action("run_command", "run_command", _always(command="true")),
    Action("verify_notebook", "verify_notebook", NOTEBOOK),
    Action("restart_kernel", "restart_kernel", _always(path=KERNEL_NOTEBOOK)),
    Action("add_task", "add_task", _always(path="note.txt", quote="one", prompt="Go.")),
    Action("write_file", "write_file", _always(path="note.txt", content="two\n"), UNDOABLE),
    Action(
        "edit_file",
        "edit_file",
        _always(path="closed.txt", old_string="one", new_string="1"),
        UNDOABLE,
    ),
    Action(
        "create_file",
        "create_file",
        lambda number: {"path": f"made/{number}.txt", "content": ""},
        UNDOABLE,
    ),
    Action(
        "edit_cell", "edit_cell", _always(path="closed.ipynb", cell_id="c1", source="y"), UNDOABLE
    ),
    Action(
        "create_notebook",
        "create_notebook",
        lambda number: {"path": f"made/{number}.ipynb"},
        UNDOABLE,
    ),
    Action(
        "db_execute",
        "db_execute",
        lambda number: {"sql": f"CREATE TABLE taken_{number} (a)"},
        UNDOABLE,
    ),
    Action("delete_file", "delete_file", _always(path="deleted.txt")),
    Action(
        "move_file",
        "move_file",
        lambda number: {"path": "moved.txt", "new_path": f"made/moved-{number}.txt"},
    ),
    Action("git_commit", "git_commit", lambda _number: {"message": "Change", "paths": [COMMITTED]}),
    Action(
        "remember",
        "remember",
        lambda number: {"text": f"Send run {number} to example.org.", "scope": "person"},
    ),
    Action("forget", "forget", _always(id=f"p-{REMEMBERED}")),
    Action("external", "fetch_url", _always(url="https://example.org/?secret")),
    Action(
        "edit_cell in page",
        "edit_cell",
        _always(path=OPEN_NOTEBOOK, cell_id="c1", source="y"),
        IN_PAGE,
    ),
    Action(
        "edit_file in page",
        "edit_file",
        _always(path=OPEN_FILE, old_string="one", new_string="1"),
        IN_PAGE,
    ),
)


def run_own(path: str, cell_id: str) -> Action:
    """Return the run of a cell of the very document that holds the injected text."""
    return Action("run_cell there", "run_cell", _always(path=path, cell_id=cell_id))
