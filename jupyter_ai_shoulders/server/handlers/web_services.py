"""``services``: the web services that tools use, their keys, addresses and tests."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.web_services import PutServiceAddress, PutServiceKey


class ServicesHandler(ShouldersHandler):
    """``services``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the services; of keys, only whether they exist."""
        self.answer(await self.host.web_services.listing())


class ServiceKeyHandler(ShouldersHandler):
    """``services/{id}/key``."""

    @web.authenticated
    @authorized
    async def put(self, service_id: str) -> None:
        """Store or remove a key."""
        command = self.body(PutServiceKey)
        self.answer(await self.host.web_services.set_key(service_id, command.key))
        self.host.pages.settings_changed("services")


class ServiceAddressHandler(ShouldersHandler):
    """``services/{id}/address``."""

    @web.authenticated
    @authorized
    async def put(self, service_id: str) -> None:
        """Store or remove the address of a service of the user's own."""
        command = self.body(PutServiceAddress)
        self.answer(await self.host.web_services.set_address(service_id, command.address))
        self.host.pages.settings_changed("services")


class ServiceTestHandler(ShouldersHandler):
    """``services/{id}/test``."""

    @web.authenticated
    @authorized
    async def post(self, service_id: str) -> None:
        """Ask the service something and report the error."""
        self.answer(await self.host.web_services.test(service_id))
