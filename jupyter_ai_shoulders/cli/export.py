"""Writes a conversation to a file, atomically. For ``list_commands`` and the terminal chat."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import get_args

from jupyter_ai_shoulders.cli.backend import ExportFormat
from jupyter_ai_shoulders.cli.errors import CommandFailed
from jupyter_ai_shoulders.client.errors import describe_error
from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace

FORMATS: Mapping[str, ExportFormat] = {f".{form}": form for form in get_args(ExportFormat)}
"""By file name suffix."""


def write_export(target: str, text: str, *, replace: bool = False) -> None:
    """Write a text to a path. Raises ``CommandFailed`` and leaves an existing file unchanged.

    An existing file is replaced only with ``replace``.
    """
    path, content = Path(target).resolve(), text.encode()
    try:
        with closing(Workspace(path.parent)) as folder:
            _write(folder, path.name, content, replace=replace)
    except (OSError, ShouldersError) as error:
        why = (
            describe_error(error.info)
            if isinstance(error, ShouldersError)
            else error.strerror or error
        )
        raise CommandFailed(f"{target} could not be written: {why}") from error


def _write(folder: Workspace, name: str, content: bytes, *, replace: bool) -> None:
    place = folder.path(name)
    try:
        stands = folder.stat(place) if replace else None
    except NotFound:
        stands = None
    if stands is None:
        folder.create(place, content)
    else:
        folder.replace(place, content, stands)
