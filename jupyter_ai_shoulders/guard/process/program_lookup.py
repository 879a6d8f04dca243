"""Looks for installed programs without running them; used by ``host`` for agents of others."""

from __future__ import annotations

import shutil


def find_program(name: str, search_path: str | None) -> str | None:
    """Return the path of a program in the folders of ``PATH``, None if it is not there."""
    return shutil.which(name, path=search_path) if name else None
