"""Unwraps ``call_tool``: permissions, log and page see the inner call.

Pure; used by ``engine.calls.approvals`` for the model's call and by
``engine.transcript.assistant_message`` to repeat it as the model wrote it.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal, cast

from jupyter_ai_shoulders.providers.base import ToolCallReady
from jupyter_ai_shoulders.tools.load_tools import CALL_TOOL, LOAD_TOOLS, CallToolArguments
from jupyter_ai_shoulders.tools.planning.plan import RUN_PLAN
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.base import Json, JsonObject
from jupyter_ai_shoulders.wire.events import ToolCall

_NEVER_INSIDE = frozenset({CALL_TOOL, LOAD_TOOLS, RUN_PLAN})


@dataclass(frozen=True, slots=True)
class UnwrappedCall:
    """A call; ``problem`` says why its form is invalid."""

    tool: str
    arguments: JsonObject | None
    problem: str | None = None
    via: Literal["call_tool"] | None = None


def unwrap_call(ready: ToolCallReady, tools: ToolRegistry, known: Collection[str]) -> UnwrappedCall:
    """Return the call the model asks for; an invalid ``call_tool`` itself, to be refused.

    ``known`` are the tools that may be called here.
    """
    outer = UnwrappedCall(ready.tool, ready.arguments, ready.problem)
    if ready.tool != CALL_TOOL or CALL_TOOL not in known or ready.arguments is None:
        return outer
    args = tools.validate(CALL_TOOL, ready.arguments)
    if not isinstance(args, CallToolArguments):
        return outer
    if args.name in _NEVER_INSIDE:
        problem = f"{CALL_TOOL} does not call {args.name}. Call it by its own name."
        return UnwrappedCall(ready.tool, ready.arguments, problem)
    return UnwrappedCall(args.name, cast("JsonObject", args.arguments), via="call_tool")


def call_as_sent(event: ToolCall) -> tuple[str, JsonObject]:
    """Return name and arguments of a call as the model gave them; ``{}`` for invalid JSON."""
    if event.via is not None:
        return event.via, _parsed(event.raw)
    return event.tool, _parsed(event.raw) if event.arguments is None else event.arguments


def _parsed(raw: str | None) -> JsonObject:
    try:
        given: Json = json.loads(raw or "")
    except ValueError:
        return {}
    return given if isinstance(given, dict) else {}
