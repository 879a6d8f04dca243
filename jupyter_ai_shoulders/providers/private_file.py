"""Replaces a file of the user's own in one step. Used by ``keys`` and ``user_catalogue``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_private(path: Path, text: str) -> None:
    """Write the file so that after a crash it is the old or the new one, for its user alone.

    A link is followed. Raises ``OSError``.
    """
    target = path.resolve()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp makes files with mode 0600
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
