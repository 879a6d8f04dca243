"""The tool ``notify``: when it asks, and how often it may be used."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from jupyter_ai_shoulders.tools.agent.notify import MOST_PER_HOUR, Notify, NotifyArguments
from jupyter_ai_shoulders.tools.permissions.rules import PermissionRequest, Rules, decide
from jupyter_ai_shoulders.tools.permissions.taint import TaintSource
from jupyter_ai_shoulders.wire.ids import CallId, SessionId
from jupyter_ai_shoulders.wire.sessions import Mode
from tests.storage.store import MovableClock
from tests.tools.direct_calls import call, subject_of

SAID = {"title": "Training", "message": "It is done."}


@dataclass
class Notices:
    """``PersonalNotices`` that collects."""

    leaves: bool = False
    told: list[NotifyArguments] = field(default_factory=list[NotifyArguments])

    def leaves_machine(self) -> bool:
        return self.leaves

    async def tell(self, session_id: SessionId, call_id: CallId, args: NotifyArguments) -> None:
        self.told.append(args)


@pytest.mark.parametrize("mode", ["ask", "auto_edit"])
@pytest.mark.parametrize(
    ("webhook", "foreign", "outcome"),
    [
        (False, False, "Allow"),
        (False, True, "Allow"),
        (True, False, "Allow"),
        (True, True, "Ask"),
    ],
)
async def test_it_asks_only_where_foreign_text_could_leave_the_machine(
    mode: Mode, webhook: bool, foreign: bool, outcome: str
) -> None:
    tool = Notify(Notices(leaves=webhook), MovableClock())
    subject = await subject_of(tool, **SAID)
    taint = [TaintSource("the page")] if foreign else []
    request = PermissionRequest(tool.name, tool.risk, tool.external, subject, taint)

    decision = decide(request, Rules(), (), mode=mode, interactive=True)

    assert type(decision).__name__ == outcome
    assert bool(subject.notes) == webhook


async def test_it_is_refused_beyond_the_limit_of_an_hour_which_then_passes() -> None:
    notices, clock = Notices(), MovableClock()
    tool = Notify(notices, clock)
    for _ in range(MOST_PER_HOUR):
        assert (await call(tool, **SAID)).envelope.ok
        clock.move(timedelta(minutes=1))

    clock.move(timedelta(minutes=53))
    refused = await call(tool, **SAID)
    clock.move(timedelta(minutes=1))
    first, second = await call(tool, **SAID), await call(tool, **SAID)

    assert refused.envelope.error is not None
    assert refused.envelope.error.code == "rate_limited"
    assert (first.envelope.ok, second.envelope.ok) == (True, False), "one place was free again"
    assert len(notices.told) == MOST_PER_HOUR + 1
