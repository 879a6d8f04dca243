"""Deletes folders of vectors. Used by the collections and the engine in process."""

from __future__ import annotations

import shutil
from pathlib import Path


def remove_folder(folder: Path) -> None:
    """Delete a folder, if it is there. Blocks.

    Raises ``OSError`` for the first file that cannot be deleted; a part may be gone.
    """
    try:
        shutil.rmtree(folder)
    except FileNotFoundError:
        if folder.exists():  # somebody else deletes it at the same time
            raise
