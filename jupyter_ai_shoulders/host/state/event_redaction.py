"""Takes the keys in use now out of every event, at the one place all events pass (chapter 13).

Made by ``host.build`` for the log; asks the model registry which keys there are.
"""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.redaction.redactor import Redactor

RENEWED_SECONDS = 1.0
"""Finding the keys looks at several files: too slow for each event."""


class EventRedactor:
    """The redactor of the moment."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._renew: Callable[[], Redactor] = Redactor
        self._latest: Callable[[], Redactor] = Redactor
        self._renew_at = 0.0

    def set_sources(self, renew: Callable[[], Redactor], latest: Callable[[], Redactor]) -> None:
        """From now on take the redactors of ``renew``, which looks for keys again.

        ``latest`` returns the newest one: a key that was just stored is looked up for its first
        call, and what that call brings must be redacted at once.
        """
        self._renew, self._latest = renew, latest
        self._renew_at = 0.0

    def redact(self, text: str) -> str:
        """Return ``text`` without secrets."""
        now = self._clock.monotonic()
        if now >= self._renew_at:
            self._renew_at = now + RENEWED_SECONDS  # first: the source may log, which redacts
            self._renew()
        return self._latest().redact(text)
