"""Replaces a private file of the user atomically; used by ``key_store`` and ``user_models``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_private(path: Path, text: str) -> None:
    """Write the file, readable by its user alone; a crash leaves either the old or the new text.

    Follows links. Raises ``OSError``.
    """
    target = path.resolve()
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    # mkstemp creates files with mode 0600
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
