"""Makes what sub-agents need, and their tools. Called by ``host.build``.

The modules that run sub-agents are imported with the first one.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from jupyter_ai_shoulders.assist.one_shot import OneShotCalls
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.host.shared_services import SharedServices
from jupyter_ai_shoulders.tools.agent.delegate import (
    Delegate,
    DelegateArguments,
    SubAgentReport,
)
from jupyter_ai_shoulders.tools.agent.own_kernel import RunInOwnKernel
from jupyter_ai_shoulders.tools.base import CallContext, Progress
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.registry import ToolRegistry

if TYPE_CHECKING:
    from jupyter_ai_shoulders.host.delegation.service import SubAgentService


def with_sub_agents(
    tools: ToolRegistry,
    services: SharedServices,
    rules: PermissionStore,
    conversations: Callable[[], SessionService],
    engine: Callable[[], Engine],
) -> ToolRegistry:
    """Return a registry with the tool that starts sub-agents and the one only they have."""
    documents = services.documents
    access = NotebookAccess(documents.notebooks, documents.names)
    sub_agents = LateSubAgents(services, rules, conversations, engine)
    return tools.extended([Delegate(sub_agents), RunInOwnKernel(access, documents.own_kernels)])


class LateSubAgents:
    """``SubAgents`` made with the first one."""

    def __init__(
        self,
        services: SharedServices,
        rules: PermissionStore,
        conversations: Callable[[], SessionService],
        engine: Callable[[], Engine],
    ) -> None:
        self._services = services
        self._rules = rules
        self._conversations = conversations
        self._engine = engine
        self._service: SubAgentService | None = None

    async def work(
        self, order: DelegateArguments, context: CallContext
    ) -> AsyncGenerator[Progress | SubAgentReport]:
        """See ``SubAgents.work``."""
        if self._service is None:
            made = await asyncio.to_thread(self._made)  # imports
            self._service = self._service or made
        async with aclosing(self._service.work(order, context)) as items:
            async for item in items:
                yield item

    def _made(self) -> SubAgentService:
        from jupyter_ai_shoulders.assist.document_notes import DocumentNotes
        from jupyter_ai_shoulders.host.delegation.citations import CitationChecker
        from jupyter_ai_shoulders.host.delegation.documents import DocumentReader
        from jupyter_ai_shoulders.host.delegation.service import DelegationPorts, SubAgentService

        services, store, documents = self._services, self._services.store, self._services.documents
        calls = OneShotCalls(services.models, services.preferences.models)
        notes = DocumentNotes(calls, services.models)
        return SubAgentService(
            DelegationPorts(
                sessions=store.sessions,
                conversations=self._conversations,
                engine=self._engine,
                resolve=services.models.resolve,
                log=store.log,
                blobs=store.blobs,
                events=store.hub,
                ids=services.ports.ids,
                documents=DocumentReader(documents.workspace, store.blobs, self._rules, notes),
                citations=CitationChecker(documents.workspace, documents.notebooks),
                kernels=documents.own_kernels,
            )
        )
