"""Servers that distinguish their users: on a hub, and through an identity provider without one."""

from __future__ import annotations

from typing import Any

import pytest
from jupyter_server.auth.identity import IdentityProvider, User
from traitlets.config import Config

SERVERS = ("hub", "identity provider")
BOB = {"X-User": "bob"}
NAMELESS = {"X-User": ""}


class ByHeader(IdentityProvider):
    """Users with the token are named by a header, as behind a proxy; an empty one names nobody."""

    async def _get_user(self, handler: Any) -> User | None:
        user = await super()._get_user(handler)
        name = handler.request.headers.get("X-User", "ann")
        return user and (User(username=name) if name else self.generate_anonymous_user(handler))

    def get_user(self, handler: Any) -> Any:
        return self._get_user(handler)


def tell_users_apart(config: Config, monkeypatch: pytest.MonkeyPatch, kind: str) -> Config:
    """Configure one of the ``SERVERS``."""
    if kind == "hub":
        monkeypatch.setenv("JUPYTERHUB_API_URL", "http://127.0.0.1:1/hub/api")
    config.ServerApp.identity_provider_class = ByHeader
    return config
