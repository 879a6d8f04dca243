"""``tools``, ``tools/permissions`` and ``audit``: tools, their rules, and approvals so far."""

from __future__ import annotations

import asyncio

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.host.build import Host
from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.storage.audit import audit_page
from jupyter_ai_shoulders.tools.permissions.store import unknown_tools
from jupyter_ai_shoulders.wire.api.audit import AuditQuery
from jupyter_ai_shoulders.wire.api.commands import PutPermissions
from jupyter_ai_shoulders.wire.api.responses import ToolList


async def _listing(host: Host) -> ToolList:
    permissions = host.rules.permissions
    tools = host.tools.infos(host.rules.switched_off(), await host.commands.sandboxed_tools())
    unknown = unknown_tools(permissions, [tool.name for tool in tools])
    return ToolList(
        tools=tools,
        disabled=tuple(sorted(permissions.rules.disabled)),
        disable_external=permissions.rules.no_external,
        rules=permissions.listing,
        problems=(*permissions.problems, *unknown),
        revision=permissions.revision,
    )


class ToolsHandler(ShouldersHandler):
    """``tools``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List tools by category, and the rules with their problems."""
        self.answer(await _listing(self.host))


class PermissionsHandler(ShouldersHandler):
    """``tools/permissions``."""

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Replace the disabled list, the switch and the rules; notify every page."""
        await asyncio.to_thread(self.host.rules.replace, self.body(PutPermissions))
        self.host.pages.tools_changed()
        self.answer(await _listing(self.host))


class AuditHandler(ShouldersHandler):
    """``audit``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List decisions, newest first."""
        query = self.query(AuditQuery)
        database = self.host.database
        self.answer(await asyncio.to_thread(audit_page, database, query, self.user))
