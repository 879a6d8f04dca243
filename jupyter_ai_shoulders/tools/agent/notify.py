"""The tool with which the agent notifies the person, where they allow it.

Registered by ``host``. It changes nothing but the person's attention, so it is not asked about;
unless it leaves this machine and foreign text may have written it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator
from typing import Literal, Protocol

from pydantic import Field

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.tools.base import (
    BaseTool,
    CallContext,
    CallSubject,
    Progress,
    Result,
    Target,
    ToolArguments,
    refusal,
    text_content,
)
from jupyter_ai_shoulders.wire.ids import CallId, SessionId
from jupyter_ai_shoulders.wire.results import ToolEnvelope

NOTIFY = "notify"
MOST_PER_HOUR = 6
"""By all conversations together."""
_HOUR = 3_600.0


class NotifyArguments(ToolArguments):
    """Arguments of ``notify``."""

    title: str = Field(min_length=1, max_length=120, description="A few words.")
    message: str = Field(min_length=1, max_length=1_000, description="One or two sentences.")
    level: Literal["info", "warning", "error"] = "info"


class PersonalNotices(Protocol):
    """Tells the person; implemented by ``host.automation``."""

    def leaves_machine(self) -> bool:
        """Return whether notifications are sent to a webhook, too."""
        ...

    async def tell(self, session_id: SessionId, call_id: CallId, args: NotifyArguments) -> None:
        """Store and deliver a notification; the same call does it once."""
        ...


class Notify(BaseTool[NotifyArguments]):
    """Shows a notification, at most ``MOST_PER_HOUR``."""

    name = NOTIFY
    category = "agent"
    risk = "write"
    arguments = NotifyArguments

    def __init__(self, notices: PersonalNotices, clock: Clock) -> None:
        self._notices = notices
        self._clock = clock
        self._sent: deque[float] = deque(maxlen=MOST_PER_HOUR)

    async def subject(self, args: NotifyArguments, context: CallContext) -> CallSubject:
        leaves = self._notices.leaves_machine()
        return CallSubject(
            title="Notify you",
            target_label=args.title,
            target=Target(),
            preview=f"{args.title}\n\n{args.message}",
            preview_is_complete=True,
            is_approved=True,
            asks_after_foreign_text=leaves,
            notes=("It is sent to your webhook, too.",) if leaves else (),
        )

    async def run(
        self, args: NotifyArguments, context: CallContext
    ) -> AsyncIterator[Progress | Result]:
        """Notify, or refuse where too many notifications were sent."""
        now = self._clock.monotonic()
        if len(self._sent) == MOST_PER_HOUR and now - self._sent[0] < _HOUR:
            yield refusal(
                f"The person got {MOST_PER_HOUR} notifications in the last hour; this one was not "
                "sent.",
                "Say it in the conversation instead.",
                code="rate_limited",
            )
            return
        self._sent.append(now)
        await self._notices.tell(context.session_id, context.call_id, args)
        yield Result(
            envelope=ToolEnvelope(ok=True, kind="text", data={"title": args.title}),
            content=text_content("The person is notified."),
        )
