"""Implements ``PersonalNotices`` of the tool ``notify`` on the notifications of the host."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.host.automation.notifications.service import NotificationService
from jupyter_ai_shoulders.host.automation.ports import Notification
from jupyter_ai_shoulders.tools.agent.notify import NotifyArguments
from jupyter_ai_shoulders.wire.ids import CallId, SessionId


class AgentNotices:
    """What the agent tells the person."""

    def __init__(
        self, notifications: NotificationService, owner_of: Callable[[SessionId], str | None]
    ) -> None:
        """``owner_of`` returns the owner of a session; raises ``NotFound``."""
        self._notifications = notifications
        self._owner_of = owner_of

    def leaves_machine(self) -> bool:
        """Return whether notifications are sent to a webhook, too."""
        return self._notifications.has_webhook()

    async def tell(self, session_id: SessionId, call_id: CallId, args: NotifyArguments) -> None:
        """Store and deliver a notification; the same call does it once."""
        try:
            owner = self._owner_of(session_id)
        except NotFound:
            return
        notification = Notification(
            key=f"agent.{session_id}.{call_id}",
            title=args.title,
            message=args.message,
            level=args.level,
            owner=owner,
            session_id=session_id,
        )
        await self._notifications.add(notification, "agent")
