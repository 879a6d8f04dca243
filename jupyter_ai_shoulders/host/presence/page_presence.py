"""Records when each user last had a page connected.

Used by the socket and ``host.presence.away_report``. Stored in the state directory, so that it
survives a restart of the server.
"""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from jupyter_ai_shoulders.core.clock import Clock, timestamp
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.wire.base import Timestamp, WireModel
from jupyter_ai_shoulders.wire.ids import ClientId

_log = logging.getLogger(__name__)


class PresenceFile(Protocol):
    """One file, read and replaced whole."""

    def read(self) -> str | None:
        """Return the text, None when there is no file. Raises ``StateUnavailable``."""
        ...

    def write(self, text: str) -> None:
        """Replace it. Raises ``StateUnavailable``."""
        ...


class Absence(WireModel):
    """A period without pages; ``until`` is null while it lasts."""

    since: Timestamp
    until: Timestamp | None = None
    reported: bool = False
    """Whether a page has shown it; it then lasts until the user dismisses it."""


class KnownAbsences(WireModel):
    """Content of the file: absences by user; null while a page is connected."""

    version: int = 1
    people: dict[str, Absence | None]


@dataclass(frozen=True, slots=True)
class Period:
    """Start and end of an absence."""

    since: Timestamp
    until: Timestamp


class PagePresence:
    """The connected pages of each user, and when the last one disconnected."""

    def __init__(self, file: PresenceFile, clock: Clock) -> None:
        self._file = file
        self._clock = clock
        self._pages: dict[str, set[ClientId]] = {}
        self._people: dict[str, Absence | None] | None = None

    def arrived(self, user: str | None, client_id: ClientId) -> None:
        """Record a page that connected."""
        key = _key(user)
        pages = self._pages.setdefault(key, set())
        is_first = not pages
        pages.add(client_id)
        if not is_first:
            return
        absence = self._absences().get(key)
        if absence is not None and absence.until is None:
            self._set(key, absence.model_copy(update={"until": self._now()}))
        elif absence is None:
            self._set(key, None)

    def left(self, user: str | None, client_id: ClientId, seconds_ago: float = 0.0) -> None:
        """Record a page that disconnected, or that was last active some time ago."""
        key = _key(user)
        pages = self._pages.get(key, set())
        if client_id not in pages:
            return
        pages.discard(client_id)
        if not pages:
            self._record_absence(key, seconds_ago)

    def period(self, user: str | None) -> Period | None:
        """Return a user's last absence that was not dismissed."""
        absence = self._absences().get(_key(user))
        if absence is None:
            return None
        return Period(absence.since, absence.until or self._now())

    def reported(self, user: str | None) -> None:
        """Record that a page has shown the absence."""
        absence = self._absences().get(_key(user))
        if absence is not None and not absence.reported:
            self._set(_key(user), absence.model_copy(update={"reported": True}))

    def dismiss(self, user: str | None) -> None:
        """Forget the absence: the user knows of it."""
        self._set(_key(user), None)

    def close(self) -> None:
        """Record everybody as away: the server stops."""
        for key, pages in self._pages.items():
            if pages:
                pages.clear()
                self._record_absence(key, 0.0)

    def _record_absence(self, key: str, seconds_ago: float) -> None:
        absence = self._absences().get(key)
        if absence is not None and absence.reported:
            self._set(key, absence.model_copy(update={"until": None}))
        else:
            self._set(key, Absence(since=self._now(seconds_ago)))

    def _absences(self) -> dict[str, Absence | None]:
        if self._people is None:
            self._people = self._read()
        return self._people

    def _read(self) -> dict[str, Absence | None]:
        try:
            text = self._file.read()
            people = {} if text is None else KnownAbsences.model_validate(json.loads(text)).people
        except (ShouldersError, ValueError):
            _log.warning("It is not known since when people were away", exc_info=True)
            return {}
        # Users who were present when a server was killed count as away from now on.
        return {key: absence or Absence(since=self._now()) for key, absence in people.items()}

    def _set(self, key: str, absence: Absence | None) -> None:
        people = self._absences()
        people[key] = absence
        try:
            self._file.write(KnownAbsences(people=people).model_dump_json())
        except ShouldersError:
            _log.info("The time since when somebody is away was not stored", exc_info=True)

    def _now(self, seconds_ago: float = 0.0) -> Timestamp:
        return timestamp(self._clock.now() - timedelta(seconds=seconds_ago))


def _key(user: str | None) -> str:
    return user or ""
