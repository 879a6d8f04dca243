"""Mentions that the input offers: files of the workspace, variables of a kernel, skills.

Part of the composition root: ``host.build`` makes it, ``host.host`` closes it,
``server.handlers.message_context`` calls it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.core.fuzzy_matching import best_matches
from jupyter_ai_shoulders.engine.ports import Environment
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.tree_search import SearchableFiles, searchable_files
from jupyter_ai_shoulders.host.context.cached_value import CachedValue
from jupyter_ai_shoulders.notebook.kernels.variable_info import variable_text
from jupyter_ai_shoulders.notebook.kernels.variables import Variables
from jupyter_ai_shoulders.wire.api.mentions import (
    MATCH_LIMIT,
    FileMatch,
    FileMatches,
    SkillSummaries,
    SkillSummary,
    VariableList,
    VariableSummary,
)

NAME_LIMIT = 100_000
"""Maximum files of a workspace that are searched."""
SUMMARY_LIMIT = 120
"""Maximum characters of a variable's summary."""
KERNEL_SECONDS = 3.0
"""How long the list of variables waits for the kernel."""
_NOTEBOOK = ".ipynb"


class Mentions:
    """Finds candidates for mentions; call ``aclose`` at the end."""

    def __init__(
        self, workspace: Workspace, variables: Variables, surroundings: Environment, clock: Clock
    ) -> None:
        self._names = CachedValue(
            lambda: _with_folders(searchable_files(workspace, NAME_LIMIT)), clock
        )
        self._variables = variables
        self._surroundings = surroundings

    async def files(self, query: str) -> FileMatches:
        """Return the best matching files and folders, without hidden or ignored ones."""
        names = await self._names.value()
        best = await asyncio.to_thread(best_matches, query, names.paths, MATCH_LIMIT)
        return FileMatches(matches=tuple(map(_match, best)), complete=names.complete)

    async def variables(self, path: str) -> VariableList:
        """Return the variables of a notebook's kernel by schema, or why they are unknown."""
        try:
            async with asyncio.timeout(KERNEL_SECONDS):
                look = await self._variables.describe(path, "schema_only")
        except (NotFound, InvalidRequest, Conflict) as error:
            return VariableList(variables=(), reason=error.info.message)
        except TimeoutError:
            return VariableList(variables=(), reason="The kernel did not answer in time.")
        found = (
            VariableSummary(name=variable.name, summary=variable_text(variable)[:SUMMARY_LIMIT])
            for variable in look.namespace.variables
        )
        more = (VariableSummary(name=name, summary="") for name in look.namespace.more)
        return VariableList(variables=(*found, *more), reason=look.why_old)

    async def skills(self) -> SkillSummaries:
        """Return the skills that the system prompt names."""
        standing = await self._surroundings.load_instructions()
        skills = (
            SkillSummary(name=skill.name, description=skill.description, path=skill.path)
            for skill in standing.skills
        )
        return SkillSummaries(skills=tuple(skills))

    async def aclose(self) -> None:
        """Wait for running threads."""
        await self._names.aclose()


def _with_folders(names: SearchableFiles) -> SearchableFiles:
    """Return the files and their folders; folders end in ``/``."""
    folders = {folder for path in names.paths for folder in _folders_of(path)}
    return SearchableFiles((*names.paths, *sorted(folders)), names.complete)


def _folders_of(path: str) -> Iterator[str]:
    at = path.find("/")
    while at >= 0:
        yield path[: at + 1]
        at = path.find("/", at + 1)


def _match(path: str) -> FileMatch:
    if path.endswith("/"):
        return FileMatch(path=path.rstrip("/"), kind="folder")
    return FileMatch(path=path, kind="notebook" if path.endswith(_NOTEBOOK) else "file")
