"""``audit``: who approved which call, when, and with which arguments."""

from __future__ import annotations

import asyncio
from typing import cast

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_ai_shoulders.server.handlers.base import ShouldersHandler
from jupyter_ai_shoulders.server.handlers.request_body import adapter_of, parse_value
from jupyter_ai_shoulders.storage.audit import audit_page
from jupyter_ai_shoulders.wire.api.audit import AuditQuery


class AuditHandler(ShouldersHandler):
    """``audit``."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """List decisions, the latest first."""
        names = (field.alias or name for name, field in AuditQuery.model_fields.items())
        given = {name: self.get_query_argument(name, None) for name in names}
        present = {name: value for name, value in given.items() if value is not None}
        query = cast("AuditQuery", parse_value(adapter_of(AuditQuery), present))
        database = self.host.database
        self.answer(await asyncio.to_thread(audit_page, database, query, self.user))
