"""Models that loop are nudged, paused and stopped; models that make progress are not."""

from __future__ import annotations

from dataclasses import replace

from jupyter_ai_shoulders.evaluation import checks
from jupyter_ai_shoulders.evaluation.case import (
    Case,
    User,
    allow,
    deny,
    with_nudges,
    without_nudges,
)
from jupyter_ai_shoulders.evaluation.cases.scripted_turns import PATH, always, edit, read, run
from jupyter_ai_shoulders.evaluation.workspace_fixture import code, one_notebook
from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, turn
from jupyter_ai_shoulders.wire.events import ApprovalDecision, ApprovalRequest

NUDGED = "The same call has given the same result three times."


def denies_loops(request: ApprovalRequest) -> ApprovalDecision:
    """Allow everything except loop approvals."""
    return "deny" if request.reason.kind == "loop" else allow(request)


_BROKEN = one_notebook(code("a", "print(missing)"), code("b", "print(absent)"))
_SAME = Case(
    name="same-call-told-asked-about-stopped",
    about="A model that repeats the same failing run gets a hint after three runs, the user is "
    "asked after four, and the turn is stopped after five.",
    fixture=_BROKEN,
    messages=("Make cell 1 work.",),
    script=(*[turn(run("a"))] * 6,),
    checks=(
        checks.turn_exits("error"),
        checks.fails_with("loop_detected", "5 times"),
        checks.approvals_asked("run_cell", kind="loop"),
        checks.results(*[("run_cell", "error")] * 5),
        checks.steps(5),
        *with_nudges(
            checks.noticed("repeated_calls"),
            checks.request_lacks(3, NUDGED),
            checks.request_has(4, NUDGED),
        ),
        *without_nudges(checks.noticed("repeated_calls", 0), checks.request_lacks(5, NUDGED)),
    ),
    mode="bypass",
)

_SAME_DENIED = replace(
    _SAME,
    name="same-call-refused-by-the-user",
    about="The user can end a loop when asked about it.",
    user=User(decides=denies_loops),
    checks=(
        checks.turn_exits("tool_rejected"),
        checks.results(*[("run_cell", "error")] * 4, ("run_cell", "denied")),
    ),
)

_PAIR = Case(
    name="two-calls-in-turn-stopped",
    about="Two calls that alternate without progress are a loop as well.",
    fixture=_BROKEN,
    messages=("Make the cells work.",),
    script=(*[turn(run("a")), turn(run("b"))] * 6,),
    checks=(
        checks.turn_exits("error"),
        checks.fails_with("loop_detected"),
        checks.approvals_asked("run_cell", "run_cell", kind="loop"),
        checks.steps(10),
        *with_nudges(checks.noticed("repeated_calls"), checks.request_has(7, NUDGED)),
    ),
    mode="bypass",
)

_RUN = replace(
    _SAME,
    name="circle-in-a-background-run",
    about="In a session without a user, a loop is stopped too.",
    kind="run",
    fixture=one_notebook(code("a", "x = 1")),
    script=(*[turn(Call("read_notebook", {"path": PATH, "cells": ["a"]}))] * 6,),
    mode="auto_edit",
    checks=(
        checks.turn_exits("error"),
        checks.fails_with("loop_detected"),
        checks.approvals_asked(),
        checks.steps(5),
    ),
)

_READ_TWICE = Case(
    name="repeated-read-is-noticed",
    about="A model that repeats a read gets a note and continues; after a change the same read "
    "counts as new.",
    fixture=one_notebook(code("a", "x = 1")),
    messages=("Set x to 2.",),
    script=(
        read(),
        read(),
        turn(edit("a", "x = 2")),
        read(),
        turn(Say("x is 2.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.cell_reads(PATH, "a", "x = 2"),
        *with_nudges(
            checks.noticed("already_read"),
            checks.request_lacks(2, "This was read already in this turn"),
            checks.request_has(3, "This was read already in this turn"),
        ),
        *without_nudges(checks.no_notices_but()),
    ),
)

_EMPTY_ONCE = Case(
    name="empty-reply-is-asked-again",
    about="A reply without text or call does not end the turn: the model is asked to continue.",
    fixture=one_notebook(code("a", "x = 1")),
    messages=("What is x?",),
    script=(read(), turn(), turn(Say("x is 1."))),
    checks=(
        checks.turn_exits("final_response"),
        *with_nudges(checks.says("x is 1."), checks.noticed("empty_reply"), checks.steps(3)),
        *without_nudges(checks.steps(2), checks.noticed("empty_turn")),
    ),
)

_EMPTY = Case(
    name="nothing-but-empty-replies",
    about="A model that sends only empty replies is asked at most twice; then the turn ends.",
    fixture=one_notebook(code("a", "x = 1")),
    messages=("What is x?",),
    script=always(),
    checks=(
        checks.turn_exits("final_response"),
        *with_nudges(checks.noticed("empty_reply", 2), checks.steps(3)),
        checks.noticed("empty_turn"),
        *without_nudges(checks.steps(1)),
    ),
)

_GUESS = Case(
    name="wrong-path-is-answered-with-candidates",
    about="A wrong notebook path is answered with the existing notebooks, so that the model need "
    "not guess.",
    fixture=one_notebook(code("a", "x = 1"), path="analysis/2024.ipynb"),
    messages=("What is x in the notebook of 2024?",),
    script=(
        turn(Call("read_notebook", {"path": "2024.ipynb"})),
        turn(Call("read_notebook", {"path": "analysis/2024.ipynb"})),
        turn(Say("x is 1.")),
    ),
    checks=(
        checks.turn_exits("final_response"),
        checks.refused("not_found", "analysis/2024.ipynb"),
        checks.nothing_changed(),
        *with_nudges(checks.noticed("look_elsewhere")),
    ),
)

_STEERED_AWAY = Case(
    name="circle-left-in-time",
    about="A model that changes its approach after the hint on three equal results continues.",
    fixture=_BROKEN,
    messages=("Make cell 1 print 1.",),
    script=(
        read(),
        *[turn(run("a"))] * 3,
        turn(edit("a", "missing = 1\nprint(missing)")),
        turn(run("a")),
        turn(Say("It prints 1.")),
    ),
    inspects=("missing",),
    checks=(
        checks.turn_exits("final_response"),
        checks.in_kernel("missing", "1"),
        checks.approvals_asked(kind="loop"),
        checks.steps(7),
    ),
    mode="bypass",
)

_DENIED_AGAIN = Case(
    name="denied-call-ends-the-turn",
    about="A call that the user has refused is not repeated: the turn ends.",
    fixture=_BROKEN,
    messages=("Run cell 1.",),
    script=always(run("a")),
    user=User(decides=deny),
    checks=(
        checks.turn_exits("tool_rejected"),
        checks.approvals_asked("run_cell", kind="mode"),
        checks.calls_executed(),
        checks.nothing_changed(),
    ),
)

CASES = (
    _SAME,
    _SAME_DENIED,
    _PAIR,
    _RUN,
    _READ_TWICE,
    _EMPTY_ONCE,
    _EMPTY,
    _GUESS,
    _STEERED_AWAY,
    _DENIED_AGAIN,
)
