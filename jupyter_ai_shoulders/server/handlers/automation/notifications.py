"""``notifications``: messages for the person, and the webhook they are sent to."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.automation.notifications import (
    PutWebhookSecret,
    SeenNotifications,
)


class NotificationsHandler(ShouldersHandler):
    """``notifications``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the notifications, the latest first."""
        self.answer(await self.host.automation.notifications.list(self.user))


class SeenHandler(ShouldersHandler):
    """``notifications/seen``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Count notifications as shown."""
        ids = self.body(SeenNotifications).ids
        self.answer(await self.host.automation.notifications.seen(ids, self.user))


class TestNotificationHandler(ShouldersHandler):
    """``notifications/test``."""

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Send a notification about nothing."""
        self.answer(await self.host.automation.notifications.test(self.user))


class WebhookHandler(ShouldersHandler):
    """``notifications/webhook``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Return the state of the webhook."""
        self.answer(await self.host.automation.notifications.webhook_status())


class WebhookSecretHandler(ShouldersHandler):
    """``notifications/secret``."""

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Store or remove the secret that signs what is sent."""
        secret = self.body(PutWebhookSecret).secret
        self.answer(await self.host.automation.notifications.set_secret(secret))
        self.host.pages.settings_changed("notifications")
