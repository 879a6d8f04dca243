"""Counts failed attempts to resume a conversation after a restart. Used by the engine.

The count is written before each attempt, so that a conversation whose events kill the process is
known by the third start.
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
    """Counts in a small file of the state directory; a damaged file counts as none."""

    def __init__(self, file: StateFile) -> None:
        self._file = file

    def begin(self, session_id: SessionId) -> int:
        """Count an attempt and return the number of failed ones before. Raises
        ``StateUnavailable``.
        """
        counts = self._counts()
        failed = counts.get(session_id, 0)
        self._file.write(json.dumps({**counts, session_id: failed + 1}))
        crash_point("recoveries.begin.written")
        return failed

    def end(self, session_id: SessionId) -> None:
        """Clear the count after a success. Raises ``StateUnavailable``."""
        counts = self._counts()
        if counts.pop(session_id, None) is not None:
            self._file.write(json.dumps(counts))
            crash_point("recoveries.end.written")

    def take_back(self, session_id: SessionId) -> None:
        """Withdraw an attempt that was not completed. Raises ``StateUnavailable``."""
        counts = self._counts()
        failed = counts.pop(session_id, 0) - 1
        kept = {session_id: failed} if failed > 0 else {}
        self._file.write(json.dumps({**counts, **kept}))

    def _counts(self) -> dict[str, int]:
        text = self._file.read()
        try:
            given: object = json.loads(text or "{}")
        except ValueError:
            _log.warning("The counts of failed recoveries cannot be read; they restart at zero.")
            return {}
        if not isinstance(given, dict):
            return {}
        counts = cast("dict[str, object]", given)
        return {key: count for key, count in counts.items() if isinstance(count, int)}
