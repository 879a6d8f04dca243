"""Mentions that the input offers: files of the workspace, variables of a kernel, skills.

Part of the composition root: ``host.build`` makes it, ``host.host`` closes it,
``server.handlers.message_context`` calls it.
"""

from __future__ import annotations

import asyncio

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, NotFound
from jupyter_ai_shoulders.engine.ports import Environment
from jupyter_ai_shoulders.host.context.file_search import FileSearch
from jupyter_ai_shoulders.notebook.kernels.variable_info import variable_text
from jupyter_ai_shoulders.notebook.kernels.variables import Variables
from jupyter_ai_shoulders.wire.api.mentions import (
    FileMatches,
    SkillSummaries,
    SkillSummary,
    VariableList,
    VariableSummary,
)

SUMMARY_LIMIT = 120
"""Maximum characters of a variable's summary."""
KERNEL_SECONDS = 3.0
"""How long the list of variables waits for the kernel."""


class Mentions:
    """Finds candidates for mentions; call ``aclose`` at the end."""

    def __init__(self, files: FileSearch, variables: Variables, surroundings: Environment) -> None:
        self._files = files
        self._variables = variables
        self._surroundings = surroundings

    async def files(self, query: str) -> FileMatches:
        """Return the best matching files and folders, without hidden or ignored ones."""
        return await self._files.files(query)

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
        await self._files.aclose()
