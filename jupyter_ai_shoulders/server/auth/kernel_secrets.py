"""Secrets that give one kernel each access to the model proxy and the routes of ``kernel_access``.

A password-only server has no token that a program could send, and a hub's token opens far more. A
kernel's secret acts for the user it was issued to, with at most this user's rights. Secrets are
kept in memory, per server: made by ``server.extension_services``, issued by
``server.handlers.kernels``, put into kernels' environments by ``server.kernels.environment``,
checked by ``handlers`` and ``server.auth.kernel_access``.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass

from jupyter_server.auth import IdentityProvider, User
from tornado.web import RequestHandler

from jupyter_ai_shoulders.core.errors import NotFound

PREFIX = "shoulders-kernel."
RANDOM_BYTES = 32


@dataclass(frozen=True, slots=True)
class _Grant:
    user: User
    secret: str


class KernelSecrets:
    """The secrets of the running kernels."""

    def __init__(self, runs: Callable[[str], bool]) -> None:
        """``runs`` returns whether a kernel with this id runs now."""
        self._is_running = runs
        self._starting: set[str] = set()
        self._grants: dict[str, dict[str, _Grant]] = {}

    def issue(self, kernel_id: str, user: User) -> str:
        """Return the secret of a kernel for this user, the same one each time.

        Raises ``NotFound`` when there is no such kernel.
        """
        self._discard_stopped_kernels()
        if not self._runs(kernel_id):
            raise NotFound(f"There is no kernel {kernel_id}.", code="no_kernel")
        grants = self._grants.setdefault(kernel_id, {})
        if user.username not in grants:
            secret = f"{PREFIX}{kernel_id}.{secrets.token_urlsafe(RANDOM_BYTES)}"
            grants[user.username] = _Grant(user, secret)
        return grants[user.username].secret

    def user_of(self, secret: str) -> User | None:
        """Return the user of a secret; None if it is unknown or its kernel has stopped."""
        kernel_id = secret.removeprefix(PREFIX).rpartition(".")[0]
        if not secret.startswith(PREFIX) or not self._runs(kernel_id):
            return None
        given, found = secret.encode("utf-8", "replace"), None
        for grant in self._grants.get(kernel_id, {}).values():
            if hmac.compare_digest(given, grant.secret.encode()):
                found = grant.user
        return found

    @contextmanager
    def starting(self, kernel_id: str) -> Generator[None]:
        """Count a kernel as running while it is being started."""
        self._starting.add(kernel_id)
        try:
            yield
        finally:
            self._starting.discard(kernel_id)

    def _runs(self, kernel_id: str) -> bool:
        return kernel_id in self._starting or self._is_running(kernel_id)

    def _discard_stopped_kernels(self) -> None:
        for kernel_id in [known for known in self._grants if not self._runs(known)]:
            del self._grants[kernel_id]


class KernelIdentity(IdentityProvider):
    """Replaces the server's identity provider for a request with a kernel's secret."""

    def __init__(self, user: User) -> None:
        super().__init__()
        self._user = user

    def get_user(self, handler: RequestHandler) -> User:
        """Return the user the kernel acts for."""
        del handler
        return self._user

    def is_token_authenticated(self, handler: RequestHandler) -> bool:
        """Return True: the secret is sent on purpose, unlike a cookie."""
        del handler
        return True
