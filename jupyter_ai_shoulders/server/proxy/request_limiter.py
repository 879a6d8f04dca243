"""State shared by all requests to the proxy; made by ``routes``, once per server."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from jupyter_ai_shoulders.core.clock import Clock, IdSource
from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.proxy.relay import ModelResolver, ProxyRelay
from jupyter_ai_shoulders.proxy.state_cache import StateCache
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelSecrets
from jupyter_ai_shoulders.wire.ids import SessionId

MAX_CONCURRENT = 256
"""Requests answered at once; the performance target is 200 streams."""


class RequestLimiter:
    """Counts the running requests, and caches answers whose state callers cannot carry."""

    def __init__(
        self, clock: Clock, ids: IdSource, secrets: KernelSecrets, limit: int = MAX_CONCURRENT
    ) -> None:
        self.ids = ids
        self.secrets = secrets
        self._running = StateCache(clock)
        self._limit = limit
        self._count = 0

    def relay(
        self, models: ModelResolver, owner: str | None, session_id: SessionId | None
    ) -> ProxyRelay:
        """Return the relay to the providers, for one user or a conversation of theirs."""
        return ProxyRelay(models, self._running, self.ids, owner, session_id)

    @contextmanager
    def slot(self) -> Generator[None]:
        """Count one request while it runs. Raises ``PolicyRefusal`` when there are too many."""
        if self._count >= self._limit:
            raise PolicyRefusal(
                f"The model proxy answers {self._count} requests already.",
                code="rate_limited",
                hint="Try again in a moment.",
                retryable=True,
            )
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1
