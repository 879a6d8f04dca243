"""Fakes of the state machine: replies, limits, summaries and full disks.

Used by ``tests.engine.state_machine.machine``.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable
from typing import Any

from jupyter_ai_shoulders.core.budget.account import LimitScope
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ProviderError, StateUnavailable
from jupyter_ai_shoulders.core.summaries import Summary, SummaryRequest
from jupyter_ai_shoulders.engine.null_ports import NullBudgets
from jupyter_ai_shoulders.testing.scripted_provider import (
    Call,
    Fail,
    Say,
    ScriptedTurn,
    Think,
    turn,
)
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.conversation.clarify import Clarify
from jupyter_ai_shoulders.tools.conversation.todo import Todo
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId, TurnId
from jupyter_ai_shoulders.wire.sessions import Mode

BUSY = ProviderError("Busy.", code="overloaded", retryable=True, retry_after_ms=0)
SUMMARY = "Cell 4 imports numpy before its first use, and the whole notebook runs again."
ASK: JsonObject = {"question": "Which?", "options": ["Blue", "Red"]}
TOO_LONG = ProviderError("The prompt is too long.", code="context_overflow")
SPENT = PolicyRefusal("Spent.", code="budget_exhausted", scope="turn")
LOOP: list[Tool[Any]] = [Clarify(), Todo()]
REPLIES: list[ScriptedTurn] = [
    turn(Say("An answer.")),
    turn(Think("Hm."), Say("Look."), Call("look", {"path": "a"}), Call("look", {"path": "b"})),
    turn(Call("edit", {"path": "a"}), Call("run_it", {"path": "a"}), Call("look", {"path": "a"})),
    turn(Call("run_it", {"path": "a"}), Call("run_it", {"path": "b"})),
    turn(Call("nothing", {}), Call("look", '{"pa'), Call("failing", {"path": "a"})),
    turn(Call("look", {"path": "a"}), Call("complete", {"summary": SUMMARY})),
    turn(Fail(BUSY)),
    turn(Say("Half a "), Call("edit", {"path": "c"}), Fail(BUSY)),
    turn(),
    turn(Call("look", {"path": "a"}), Call("clarify", ASK), Call("run_it", {"path": "a"})),
    turn(Call("run_it", {"path": "b"}), Call("clarify", ASK), Call("clarify", ASK)),
    turn(Call("todo", {"markdown": "- [ ] a"}), Call("clarify", {"question": " "})),
    turn(Fail(SPENT)),
    turn(Fail(TOO_LONG)),
    turn(Say("Half a "), Call("look", {"path": "b"}), stop="context_overflow"),
]
MODES: list[Mode | None] = [None, None, "ask", "auto_edit", "plan"]
AFTERWARDS = [None, None, "resume", "discard"]
"""The user's decision about a turn that a restart interrupted."""
OTHER_PAGE_ACTIONS = ("send", "replace", "cancel", "raise", "discard")
"""Actions of another page while a limit is raised."""
SLOW = ("look:a", "run_it:a", "edit:c")
"""Calls that can be blocked."""
LIMIT = 1_000_000
"""Micro-dollars; a higher limit is refused."""


class Limits(NullBudgets):
    """A budget that can be raised up to a maximum."""

    async def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        """Refuse amounts that are too high; storing others takes a moment."""
        for _ in range(4):
            await asyncio.sleep(0)
        if micro_usd > LIMIT:
            raise PolicyRefusal("That is too much.", code="budget_exhausted")


class Writer:
    """Takes a moment for a summary; writes some and fails at others."""

    def __init__(self) -> None:
        self.asked = 0

    async def summarise(self, order: SummaryRequest) -> Summary | None:
        """Return a summary, None, or fail, in turn."""
        self.asked += 1
        for _ in range(self.asked % 7):
            await asyncio.sleep(0)
        if self.asked % 3 == 0:
            raise BUSY
        return Summary(f"Summary {self.asked}.", ModelId("cheap")) if self.asked % 3 == 1 else None


def filling_disk(room: int) -> Callable[[ev.Event], None]:
    """Return a disk with room for that many events."""
    left = itertools.count(room, -1)

    def append(event: ev.Event) -> None:
        if next(left) <= 0:
            full_disk(event)

    return append


def full_disk(event: ev.Event) -> None:
    raise StateUnavailable("The disk is full.", code="disk_full")
