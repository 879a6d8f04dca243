"""Creates notebooks; the tools' ``NewNotebooks``, made by ``host``."""

from __future__ import annotations

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.notebook.backends.disk.contents_manager import StoredNotebooks
from jupyter_ai_shoulders.notebook.base import KernelSpec
from jupyter_ai_shoulders.wire.base import JsonObject


class NotebookCreation:
    """Creates notebooks in the workspace, through the contents manager where needed."""

    def __init__(self, workspace: Workspace, stored: StoredNotebooks) -> None:
        self._workspace = workspace
        self._stored = stored

    async def create(self, path: str, content: JsonObject) -> WorkspacePath:
        """See ``NewNotebooks.create``."""
        name = self._workspace.path(path)
        if not name.endswith(".ipynb") or name.rpartition("/")[2] == ".ipynb":
            raise InvalidRequest(
                f"{path} is not a valid notebook name.",
                code="not_a_notebook",
                hint="Notebooks end in .ipynb.",
            )
        try:
            await self._stored.create(name, content)
        except NotFound as error:
            folder = name.rpartition("/")[0]
            raise NotFound(
                f"There is no folder {folder}, so {name} was not created.",
                hint="Choose a folder that exists.",
            ) from error
        return name


def empty_notebook(spec: KernelSpec) -> JsonObject:
    """Return a notebook without cells (nbformat 4.5): JupyterLab shows it with an empty one."""
    return {
        "cells": [],
        "metadata": {
            "kernelspec": {
                "display_name": spec.display_name,
                "language": spec.language,
                "name": spec.name,
            },
            "language_info": {"name": spec.language},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
