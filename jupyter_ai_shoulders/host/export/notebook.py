"""A conversation as a notebook: messages as Markdown cells, the agent's code as code cells.

Pure; nbformat 4.5 (the cells' ids are required by it). Used by ``host.export.exporter``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

from jupyter_ai_shoulders.host.export import markdown
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.conversation import views
from jupyter_ai_shoulders.wire.conversation.views import AgentView, Conversation, MessageView
from jupyter_ai_shoulders.wire.hidden_characters import legible

BEGIN = '{\n "cells": [\n'
END = (
    '\n ],\n "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", '
    '"name": "python3"}, "language_info": {"name": "python"}},\n'
    ' "nbformat": 4,\n "nbformat_minor": 5\n}\n'
)
_SOURCES = {"add_cell": "source", "edit_cell": "source", "run_code": "code"}
"""The tools that write code, and the argument that holds it."""


def heading(conversation: Conversation, unreadable: int) -> str:
    """Return the first cell, as JSON."""
    return _text_cell("head", markdown.heading(conversation, unreadable))


def cells(message: MessageView) -> Iterator[str]:
    """Yield the cells of a message, as JSON: a code cell follows each call that wrote code."""
    if not isinstance(message, AgentView):
        yield _text_cell(f"m{message.seq}", markdown.message(message))
        return
    number, waiting = 0, ["## Agent"]
    for part in message.parts:
        waiting += filter(None, [markdown.part(part)])
        code = _code(part)
        if code is not None:
            yield _text_cell(f"m{message.seq}-{number}", "\n\n".join(waiting))
            yield _code_cell(f"m{message.seq}-{number}c", code)
            number, waiting = number + 1, []
    if waiting:
        yield _text_cell(f"m{message.seq}-{number}", "\n\n".join(waiting))


def ending(conversation: Conversation) -> Iterator[str]:
    """Yield the cells after the messages, as JSON."""
    text = markdown.ending(conversation)
    if text:
        yield _text_cell("end", text)


def _code(part: views.PartView) -> str | None:
    """Return the code a call wrote into a cell or ran, None for any other part."""
    if not isinstance(part, views.CallView) or part.state != "ok" or part.arguments is None:
        return None
    name = _SOURCES.get(part.tool)
    code = part.arguments.get(name) if name else None
    is_code = part.arguments.get("cell_type") in {None, "code"}
    return code if isinstance(code, str) and is_code else None


def _text_cell(cell_id: str, text: str) -> str:
    return _cell({"cell_type": "markdown", "id": cell_id, "metadata": {}, "source": legible(text)})


def _code_cell(cell_id: str, code: str) -> str:
    return _cell(
        {
            "cell_type": "code",
            "execution_count": None,
            "id": cell_id,
            "metadata": {},
            "outputs": [],
            "source": legible(code),
        }
    )


def _cell(cell: JsonObject) -> str:
    return json.dumps(cell)
