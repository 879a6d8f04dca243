"""Turns and calls shared by many scripts."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.testing.scripted_provider import Call, Item, ScriptedTurn, turn

PATH = "work.ipynb"


def read() -> ScriptedTurn:
    return turn(Call("read_notebook", {"path": PATH}))


def edit(cell_id: str, source: str) -> Call:
    """Replace a cell's source."""
    return Call("edit_cell", {"path": PATH, "cell_id": cell_id, "source": source})


def run(cell_id: str) -> Call:
    return Call("run_cell", {"path": PATH, "cell_id": cell_id})


def add(source: str) -> Call:
    """Add a cell at the end."""
    return Call("add_cell", {"path": PATH, "source": source})


def always(*items: Item) -> Callable[[ModelRequest], ScriptedTurn]:
    """Return a script that gives the same reply to every request."""

    def reply(request: ModelRequest) -> ScriptedTurn:
        del request
        return turn(*items)

    return reply
