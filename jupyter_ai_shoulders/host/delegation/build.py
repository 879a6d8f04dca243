"""Makes what sub-agents need, and their tools. Called by ``host.build``."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.assist.document_notes import DocumentNotes
from jupyter_ai_shoulders.assist.one_shot import OneShotCalls
from jupyter_ai_shoulders.engine.engine import Engine
from jupyter_ai_shoulders.host.delegation.citations import CitationChecker
from jupyter_ai_shoulders.host.delegation.documents import DocumentReader
from jupyter_ai_shoulders.host.delegation.service import DelegationPorts, SubAgentService
from jupyter_ai_shoulders.host.sessions.service import SessionService
from jupyter_ai_shoulders.host.shared_services import SharedServices
from jupyter_ai_shoulders.tools.agent.delegate import Delegate
from jupyter_ai_shoulders.tools.agent.own_kernel import RunInOwnKernel
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.registry import ToolRegistry


def with_sub_agents(
    tools: ToolRegistry,
    services: SharedServices,
    rules: PermissionStore,
    conversations: Callable[[], SessionService],
    engine: Callable[[], Engine],
) -> ToolRegistry:
    """Return a registry with the tool that starts sub-agents and the one only they have."""
    store, documents = services.store, services.documents
    calls = OneShotCalls(services.models, services.preferences.models)
    ports = DelegationPorts(
        sessions=store.sessions,
        conversations=conversations,
        engine=engine,
        resolve=services.models.resolve,
        log=store.log,
        blobs=store.blobs,
        events=store.hub,
        ids=services.ports.ids,
        documents=DocumentReader(
            documents.workspace, store.blobs, rules, DocumentNotes(calls, services.models)
        ),
        citations=CitationChecker(documents.workspace, documents.notebooks),
        kernels=documents.own_kernels,
    )
    access = NotebookAccess(documents.notebooks, documents.names)
    return tools.extended(
        [Delegate(SubAgentService(ports)), RunInOwnKernel(access, documents.own_kernels)]
    )
