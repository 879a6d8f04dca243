"""How often taking up a conversation after a restart has failed: counted on the disk beforehand,
so that one whose events kill the process is known by the third start. Used by the engine.
"""

from __future__ import annotations

import json
import logging
from typing import cast

from jupyter_ai_shoulders.core.crash_points import crash_point
from jupyter_ai_shoulders.storage.state_file import StateFile
from jupyter_ai_shoulders.wire.ids import SessionId

_log = logging.getLogger(__name__)


class RecoveryAttempts:
    """Counts in a small file of the state directory; a damaged one counts as none."""

    def __init__(self, file: StateFile) -> None:
        self._file = file

    def begin(self, session_id: SessionId) -> int:
        """Count one more and return how many before it failed. Raises ``StateUnavailable``."""
        counts = self._counts()
        failed = counts.get(session_id, 0)
        self._file.write(json.dumps({**counts, session_id: failed + 1}))
        crash_point("recoveries.begin.written")
        return failed

    def end(self, session_id: SessionId) -> None:
        """It succeeded. Raises ``StateUnavailable``."""
        counts = self._counts()
        if counts.pop(session_id, None) is not None:
            self._file.write(json.dumps(counts))
            crash_point("recoveries.end.written")

    def take_back(self, session_id: SessionId) -> None:
        """Count one less: it was not tried to the end. Raises ``StateUnavailable``."""
        counts = self._counts()
        failed = counts.pop(session_id, 0) - 1
        kept = {session_id: failed} if failed > 0 else {}
        self._file.write(json.dumps({**counts, **kept}))

    def _counts(self) -> dict[str, int]:
        text = self._file.read()
        try:
            given: object = json.loads(text or "{}")
        except ValueError:
            _log.warning("The counts of failed recoveries cannot be read; they start anew.")
            return {}
        if not isinstance(given, dict):
            return {}
        counts = cast("dict[str, object]", given)
        return {key: count for key, count in counts.items() if isinstance(count, int)}
