"""Everything below the API's root that is no route: a JSON 404 for clients, not a page."""

from __future__ import annotations

from typing import NoReturn

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler


class UnknownRouteHandler(ShouldersHandler):
    """Any other path."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Refuse."""
        self._refuse()

    @web.authenticated
    @authorized
    async def head(self) -> None:
        """Refuse."""
        self._refuse()

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Refuse."""
        self._refuse()

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Refuse."""
        self._refuse()

    @web.authenticated
    @authorized
    async def patch(self) -> None:
        """Refuse."""
        self._refuse()

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """Refuse."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise NotFound(
            f"There is no route {self.request.method} {self.request.path}.",
            code="unknown_route",
            hint="A newer page may ask an older server: reload the page, or upgrade the package.",
        )
