"""``memory`` and ``memory/{id}``: the statements that conversations begin with."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.core.operation_journal import BY_USER
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.wire.api.agent_data.memory import PatchMemory, PostMemory


class MemoryHandler(ShouldersHandler):
    """``memory``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """Show both files with their statements."""
        self.answer(await self.host.memory.view(self.user))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Add a statement, in the place of one that it repeats or contradicts."""
        command = self.body(PostMemory)
        change = await self.host.memory.remember(
            command.text,
            command.scope,
            BY_USER,
            owner=self.user,
            preference=command.preference,
        )
        self.answer(change, 201)


class StatementHandler(ShouldersHandler):
    """``memory/{id}``."""

    @web.authenticated
    @authorized
    async def patch(self, statement_id: str) -> None:
        """Give a statement another text."""
        text = self.body(PatchMemory).text
        change = await self.host.memory.edit(statement_id, text, BY_USER, owner=self.user)
        self.answer(change)

    @web.authenticated
    @authorized
    async def delete(self, statement_id: str) -> None:
        """Remove a statement; the answer names the operation that undoes it."""
        self.answer(await self.host.memory.forget(statement_id, BY_USER, owner=self.user))
