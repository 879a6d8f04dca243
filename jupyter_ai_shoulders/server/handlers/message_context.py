"""``files/search``, ``variables``, ``skills`` and ``instructions``: context of messages."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.host.context.instruction_list import list_instructions
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.mentions import FileSearchQuery, VariablesQuery


class FileSearchHandler(ShouldersHandler):
    """``files/search``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the files whose paths match ``?q=`` best."""
        self.answer(await self.host.mentions.files(self.query(FileSearchQuery).q))


class VariablesHandler(ShouldersHandler):
    """``variables``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the variables of the kernel of ``?path=``: names and types, no values."""
        self.answer(await self.host.mentions.variables(self.query(VariablesQuery).path))


class SkillsHandler(ShouldersHandler):
    """``skills``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the skills."""
        self.answer(await self.host.mentions.skills())


class InstructionsHandler(ShouldersHandler):
    """``instructions``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List the instruction files and their problems."""
        self.answer(list_instructions(await self.host.load_instructions()))
