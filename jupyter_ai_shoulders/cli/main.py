"""Where ``jupyter shoulders`` begins; what takes a second to import is imported by ``program``.

Called by the script of the package and by ``__main__``.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

_CANCELLED = 130
"""``exits.Code.CANCELLED``, for which there may have been no time."""


def main(given: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code (``exits``), also when Ctrl+C ends it early."""
    try:
        from jupyter_ai_shoulders.cli.program import program

        return program(sys.argv[1:] if given is None else given)
    except KeyboardInterrupt:
        sys.stderr.write("\njupyter shoulders: stopped\n")
        return _CANCELLED
