"""Records the health of each provider from its last calls, for five minutes.

Every model call reports its outcome, so that the settings can show a broken key without a request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.ids import ProviderId

VALID_SECONDS = 300.0

_ABOUT_THE_PROVIDER: frozenset[ErrorCode] = frozenset(
    {
        "authentication",
        "billing",
        "permission",
        "quota_exhausted",
        "overloaded",
        "provider_error",
        "provider_unreachable",
        "provider_timeout",
        "provider_protocol",
    }
)
"""All other errors concern one request or one model."""


@dataclass(frozen=True, slots=True)
class Health:
    """The outcome of the last relevant call."""

    state: Literal["unknown", "ok", "failing"]
    error: ErrorInfo | None = None


UNKNOWN = Health("unknown")


class HealthTracker:
    """The latest health of each provider."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._entries: dict[ProviderId, tuple[float, Health]] = {}

    def report(self, provider: ProviderId, error: ProviderError | None) -> None:
        """Record the outcome of a call; errors that do not concern the provider are ignored."""
        if error is None:
            self._entries[provider] = (self._clock.monotonic(), Health("ok"))
        elif error.info.code in _ABOUT_THE_PROVIDER:
            self._entries[provider] = (self._clock.monotonic(), Health("failing", error.info))

    def forget(self, provider: ProviderId) -> None:
        """Forget a provider's state, because its key or its settings changed."""
        self._entries.pop(provider, None)

    def health_of(self, provider: ProviderId) -> Health:
        """Return the state, ``unknown`` when it is older than five minutes."""
        return self._fresh().get(provider, UNKNOWN)

    def _fresh(self) -> Mapping[ProviderId, Health]:
        oldest = self._clock.monotonic() - VALID_SECONDS
        return {name: health for name, (at, health) in self._entries.items() if at >= oldest}
