"""Turns that end before the model finishes: steps, money, context window, the user's stop."""

from __future__ import annotations

from dataclasses import replace

from jupyter_ai_shoulders.core.budget.limits import SpendingLimits
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.evaluation import checks
from jupyter_ai_shoulders.evaluation.case import Case, User
from jupyter_ai_shoulders.evaluation.cases.scripted_turns import PATH, edit, read, run
from jupyter_ai_shoulders.evaluation.workspace_fixture import code, one_notebook, printed
from jupyter_ai_shoulders.providers.base import ModelRequest, NamedTool
from jupyter_ai_shoulders.testing.scripted_provider import Call, Fail, Gate, Say, ScriptedTurn, turn
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import Event, Exit, TextDelta, ToolProgress
from jupyter_ai_shoulders.wire.usage import TokenUsage

_FIXTURE = one_notebook(code("a", "x = 1"))
_EXPENSIVE = TokenUsage(input_tokens=500_000, output_tokens=20)
"""Costs half a dollar with the scripted model."""

_STEPS = Case(
    name="step-limit",
    about="At the step limit the last step's calls still run; the model gets a warning before, and "
    "the user gets a summary.",
    fixture=_FIXTURE,
    messages=("Count x up to 9.",),
    script=(
        read(),
        *(turn(edit("a", f"x = {number}")) for number in range(2, 9)),
    ),
    step_limit=5,
    checks=(
        checks.turn_exits("step_cap"),
        checks.steps(5),
        checks.cell_reads(PATH, "a", "x = 5"),
        checks.summary_says("Done so far: Edit cell 1"),
        checks.noticed("step_cap"),
        checks.request_lacks(2, "[notice]"),
        checks.request_has(3, "3 steps are left"),
        checks.request_has(5, "This is the last step of this turn"),
    ),
)

_MONEY = Case(
    name="limit-of-money-raised",
    about="A turn that reaches its spending limit waits, sends nothing, and continues when the "
    "user raises the limit.",
    fixture=_FIXTURE,
    messages=("Set x to 2.",),
    script=(
        turn(Call("read_notebook", {"path": PATH}), usage=_EXPENSIVE),
        turn(edit("a", "x = 2")),
        turn(Say("x is 2.")),
    ),
    limits=SpendingLimits(turn=400_000),
    user=User(raised_limit=2_000_000),
    checks=(
        checks.turn_exits("final_response"),
        checks.noticed("turn_limit"),
        checks.cell_reads(PATH, "a", "x = 2"),
        checks.steps(4),
    ),
)

_MONEY_ENDS = replace(
    _MONEY,
    name="limit-of-money-kept",
    about="A turn at its spending limit ends if the user does not raise it, and nothing more is "
    "sent.",
    user=User(),
    checks=(
        checks.turn_exits("budget_exhausted"),
        checks.noticed("turn_limit"),
        checks.nothing_changed(),
        checks.tokens_at_most(500_020),
    ),
)

_MONEY_RUN = replace(
    _MONEY,
    name="limit-of-money-in-a-background-run",
    about="In a session without a user, the turn ends at the limit.",
    kind="run",
    checks=(
        checks.turn_exits("budget_exhausted"),
        checks.fails_with("budget_exhausted"),
        checks.nothing_changed(),
        checks.tokens_at_most(500_020),
    ),
)

_WINDOW = Case(
    name="too-small-a-window",
    about="A request that does not fit the model's window is not sent; the error says how to "
    "continue.",
    fixture=_FIXTURE,
    messages=("Explain this. " + "word " * 20_000,),
    script=(turn(Say("never said")),),
    window=12_000,
    checks=(
        checks.turn_exits("context_overflow"),
        checks.fails_with("context_overflow"),
        checks.nothing_changed(),
    ),
)

_LONG = Case(
    name="window-filled-by-a-result",
    about="A result that fills the window in the middle of a turn ends it as an overflow, and "
    "earlier work is kept.",
    fixture=one_notebook(
        code("a", "x = 1"), *(code(f"c{n}", "pass", printed("data " * 2_000)) for n in range(4))
    ),
    messages=("Set x to 2, then look at all outputs.",),
    script=(
        turn(Call("read_notebook", {"path": PATH}), usage=None),
        turn(edit("a", "x = 2"), usage=None),
        turn(Call("read_notebook", {"path": PATH, "outputs": True}), usage=None),
        turn(Say("never said")),
    ),
    window=13_000,
    checks=(
        checks.turn_exits("context_overflow"),
        checks.cell_reads(PATH, "a", "x = 2"),
        checks.changes("Edit cell 1"),
    ),
)


def _has_printed(event: Event) -> bool:
    return isinstance(event, ToolProgress) and "step 0" in event.text


_STOPPED = Case(
    name="stop-keeps-partial-output",
    about="A run that the user stops is interrupted in the kernel; its output is kept in the "
    "conversation and in the notebook.",
    fixture=one_notebook(
        code(
            "slow",
            "import time\nfor i in range(600):\n    print('step', i, flush=True)\n"
            "    time.sleep(0.1)",
        )
    ),
    messages=("Run the cell.",),
    script=(turn(run("slow")), turn(Say("never said"))),
    user=User(stops_at=_has_printed),
    inspects=("i < 599",),
    checks=(
        checks.turn_exits("cancelled"),
        checks.results(("run_cell", "cancelled")),
        checks.output_has(PATH, "slow", "step 0"),
        checks.in_kernel("i < 599", "True"),
        checks.steps(1),
    ),
    mode="bypass",
)


def _has_said_number(event: Event) -> bool:
    return isinstance(event, TextDelta) and "number" in event.text


def _breaks_off(request: ModelRequest) -> ScriptedTurn | str:
    """Return half a sentence in the first turn, and wait for the user to press stop."""
    if len(request.messages) > 1:
        return "Where were we?"
    return turn(Say("x is the number "), Gate(), Say("never said"))


_STOPPED_TEXT = Case(
    name="stop-keeps-partial-text",
    about="The text of a model stopped by the user is kept, and the next turn includes it.",
    fixture=_FIXTURE,
    messages=("What is x?", "Go on."),
    script=_breaks_off,
    user=User(stops_at=_has_said_number),
    checks=(
        checks.turn_exits("cancelled", "final_response"),
        checks.says("x is the number Where were we?"),
        checks.request_carries(2, "x is the number"),
        checks.nothing_changed(),
    ),
)

_FRESH_TURN = Case(
    name="next-turn-starts-afresh",
    about="Steps and repetitions of one turn do not count in the next.",
    fixture=_FIXTURE,
    messages=("Look at it.", "Look at it again."),
    script=(*[*[turn(Call("read_notebook", {"path": PATH, "cells": ["a"]}))] * 2, "x is 1."] * 2,),
    step_limit=3,
    checks=(
        checks.turn_exits("final_response", "final_response"),
        checks.approvals_asked(),
        checks.steps(6),
    ),
)

_SUMMARY = "The user named the colours one to eight."
_EIGHT: tuple[Exit, ...] = ("final_response",) * 8
_FILLER = "word " * 1_300


_NOTES: JsonObject = {
    "goals": [],
    "user_said": [_SUMMARY],
    "decisions": [],
    "state": [],
    "failed": [],
    "open": [],
}


def _summarises(request: ModelRequest) -> ScriptedTurn:
    """Answer turns, and write the summary when requested."""
    if isinstance(request.tool_choice, NamedTool):
        return turn(Call(request.tools[0].name, _NOTES), usage=None)
    return turn(Say("Noted."), usage=None)


def _fails_to_summarise(request: ModelRequest) -> ScriptedTurn:
    """Answer turns, but write no summary."""
    if isinstance(request.tool_choice, NamedTool):
        return turn(Fail(ProviderError("The model is overloaded.", code="overloaded")))
    return turn(Say("Noted."), usage=None)


_COMPACTED = Case(
    name="long-conversation-is-summarised",
    about="When a conversation outgrows the window, a summary replaces its middle for the model; "
    "the first message and the last three stay, and the user sees everything.",
    fixture=_FIXTURE,
    messages=tuple(f"Colour {number} is c{number}x. {_FILLER}" for number in range(1, 9)),
    script=_summarises,
    window=32_000,
    checks=(
        checks.turn_exits(*_EIGHT),
        checks.noticed_at_least_once("compacted"),
        checks.request_has(-1, "c1x", "c6x", "c7x", "c8x"),
        checks.request_carries(-1, _SUMMARY),
        checks.request_lacks(-1, "c3x"),
        checks.shows_messages(8),
    ),
)

_DIGESTED = replace(
    _COMPACTED,
    name="summary-without-a-model",
    about="If no model writes the summary, the conversation continues with a summary made by rule.",
    script=_fails_to_summarise,
    checks=(
        checks.turn_exits(*_EIGHT),
        checks.noticed_at_least_once("compacted"),
        checks.request_has(-1, "c1x", "c6x", "c7x", "c8x"),
        checks.shows_messages(8),
    ),
)

CASES = (
    _COMPACTED,
    _DIGESTED,
    _STEPS,
    _MONEY,
    _MONEY_ENDS,
    _MONEY_RUN,
    _WINDOW,
    _LONG,
    _STOPPED,
    _STOPPED_TEXT,
    _FRESH_TURN,
)
