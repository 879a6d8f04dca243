"""The routes below ``{base_url}shoulders/api/v1/``, imported on the first request.

``server.lazy_routes`` loads this module, so that starting the server costs none of its imports.
"""

from __future__ import annotations

from tornado.web import RequestHandler

from jupyter_ai_shoulders.server.auth.kernel_access import ID, SOCKET, kernel_access_by_route
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelSecrets
from jupyter_ai_shoulders.server.connections.connection_registry import PageConnectionRegistry
from jupyter_ai_shoulders.server.connections.page_socket import PageSocketHandler
from jupyter_ai_shoulders.server.handlers.agent_data.database import (
    AgentDatabaseHandler,
    DatabaseExportHandler,
    DatabaseTableHandler,
)
from jupyter_ai_shoulders.server.handlers.agent_data.memory import MemoryHandler, StatementHandler
from jupyter_ai_shoulders.server.handlers.automation.notifications import (
    NotificationsHandler,
    SeenHandler,
    TestNotificationHandler,
    WebhookHandler,
    WebhookSecretHandler,
)
from jupyter_ai_shoulders.server.handlers.automation.previews import (
    SchedulePreviewHandler,
    WatchersHandler,
)
from jupyter_ai_shoulders.server.handlers.automation.schedules import (
    ScheduleHandler,
    ScheduleRunHandler,
    ScheduleRunsHandler,
    SchedulesHandler,
)
from jupyter_ai_shoulders.server.handlers.base import HostSource, UnknownRouteHandler
from jupyter_ai_shoulders.server.handlers.blobs import ArtifactHandler, BlobHandler
from jupyter_ai_shoulders.server.handlers.completions import CompletionHandler, CompletionsHandler
from jupyter_ai_shoulders.server.handlers.documents import (
    CellTextHandler,
    EditHandler,
    EditsHandler,
    OperationsHandler,
    OperationUndoHandler,
    ProposalHandler,
    ProposalsHandler,
)
from jupyter_ai_shoulders.server.handlers.events import EventsHandler
from jupyter_ai_shoulders.server.handlers.external_agents.agents import (
    AgentsHandler,
    SessionAgentHandler,
)
from jupyter_ai_shoulders.server.handlers.kernels import KernelNotebookHandler, KernelSecretHandler
from jupyter_ai_shoulders.server.handlers.message_context import (
    FileSearchHandler,
    InstructionsHandler,
    SkillsHandler,
    VariablesHandler,
)
from jupyter_ai_shoulders.server.handlers.models import (
    ModelsHandler,
    ProviderCheckHandler,
    ProviderDetectHandler,
    ProviderHandler,
    ProviderKeyHandler,
    ProviderTestHandler,
)
from jupyter_ai_shoulders.server.handlers.references import (
    CitationHandler,
    CitationStylesHandler,
    FormatHandler,
    ReferenceCheckHandler,
    ReferenceDeletionHandler,
    ReferenceEditHandler,
    ReferenceEntryHandler,
    ReferencesHandler,
)
from jupyter_ai_shoulders.server.handlers.search import SearchHandler, SearchIndexHandler
from jupyter_ai_shoulders.server.handlers.sessions import (
    AdoptHandler,
    AnchorsHandler,
    AwayHandler,
    ExportHandler,
    ForkHandler,
    SessionHandler,
    SessionsHandler,
    UndeleteHandler,
)
from jupyter_ai_shoulders.server.handlers.settings import (
    SettingsHandler,
    StatusHandler,
    TrustHandler,
)
from jupyter_ai_shoulders.server.handlers.tools import (
    AuditHandler,
    PermissionsHandler,
    ToolsHandler,
)
from jupyter_ai_shoulders.server.handlers.turns import (
    ApprovalHandler,
    CancelHandler,
    ClarificationHandler,
    CompactHandler,
    InputHandler,
    MessageHandler,
    MessagesHandler,
    PreviewHandler,
    RestoreHandler,
    ResumeHandler,
    RunsHandler,
    SentRequestHandler,
    SuppliedResultHandler,
    UndoHandler,
)
from jupyter_ai_shoulders.server.handlers.usage import BudgetHandler, UsageHandler
from jupyter_ai_shoulders.server.handlers.web_services import (
    ServiceAddressHandler,
    ServiceKeyHandler,
    ServicesHandler,
    ServiceTestHandler,
)
from jupyter_ai_shoulders.server.handlers.word import WordHandler
from jupyter_ai_shoulders.server.lazy_routes import Route
from jupyter_ai_shoulders.server.mcp.access_token_handlers import (
    AccessTokenHandler,
    AccessTokensHandler,
)
from jupyter_ai_shoulders.server.mcp.content_handlers import MCP_CONTENT_HANDLERS
from jupyter_ai_shoulders.server.mcp.server_handlers import MCP_SERVER_HANDLERS

_HANDLERS: tuple[tuple[str, type[RequestHandler]], ...] = (
    ("status", StatusHandler),
    ("models", ModelsHandler),
    ("agents", AgentsHandler),
    ("settings", SettingsHandler),
    ("trust", TrustHandler),
    ("usage", UsageHandler),
    ("budget", BudgetHandler),
    ("providers/detect", ProviderDetectHandler),
    (f"providers/{ID}", ProviderHandler),
    (f"providers/{ID}/test", ProviderTestHandler),
    (f"providers/{ID}/check", ProviderCheckHandler),
    (f"providers/{ID}/key", ProviderKeyHandler),
    ("sessions", SessionsHandler),
    (f"sessions/{ID}", SessionHandler),
    (f"sessions/{ID}/agent", SessionAgentHandler),
    (f"sessions/{ID}/undelete", UndeleteHandler),
    (f"sessions/{ID}/fork", ForkHandler),
    (f"sessions/{ID}/export", ExportHandler),
    (f"sessions/{ID}/events", EventsHandler),
    (f"sessions/{ID}/messages", MessagesHandler),
    (f"sessions/{ID}/messages/{ID}", MessageHandler),
    (f"sessions/{ID}/cancel", CancelHandler),
    (f"sessions/{ID}/compact", CompactHandler),
    (f"sessions/{ID}/resume", ResumeHandler),
    (f"sessions/{ID}/restore", RestoreHandler),
    (f"sessions/{ID}/undo", UndoHandler),
    (f"sessions/{ID}/approvals/{ID}", ApprovalHandler),
    (f"sessions/{ID}/requests/([0-9]{{1,6}})", SentRequestHandler),
    (f"sessions/{ID}/preview", PreviewHandler),
    (f"sessions/{ID}/cell-text", CellTextHandler),
    (f"sessions/{ID}/clarifications/{ID}", ClarificationHandler),
    (f"sessions/{ID}/stdin/{ID}", InputHandler),
    (f"sessions/{ID}/tool-results/{ID}", SuppliedResultHandler),
    ("away", AwayHandler),
    ("anchors", AnchorsHandler),
    ("anchors/adopt", AdoptHandler),
    ("runs", RunsHandler),
    (f"kernels/{ID}/notebook", KernelNotebookHandler),
    (f"artifacts/{ID}/{ID}", ArtifactHandler),
    (f"blobs/{ID}", BlobHandler),
    ("edits", EditsHandler),
    (f"edits/{ID}", EditHandler),
    ("proposals", ProposalsHandler),
    (f"proposals/{ID}", ProposalHandler),
    ("tools", ToolsHandler),
    ("tools/permissions", PermissionsHandler),
    ("audit", AuditHandler),
    ("access-tokens", AccessTokensHandler),
    (f"access-tokens/{ID}", AccessTokenHandler),
    ("operations", OperationsHandler),
    (f"operations/{ID}/undo", OperationUndoHandler),
    ("completions", CompletionsHandler),
    (f"completions/{ID}", CompletionHandler),
    ("files/search", FileSearchHandler),
    ("search", SearchHandler),
    ("search/index", SearchIndexHandler),
    ("agent-database", AgentDatabaseHandler),
    (f"agent-database/tables/{ID}", DatabaseTableHandler),
    (f"agent-database/tables/{ID}/export", DatabaseExportHandler),
    ("word", WordHandler),
    ("services", ServicesHandler),
    (f"services/{ID}/key", ServiceKeyHandler),
    (f"services/{ID}/address", ServiceAddressHandler),
    (f"services/{ID}/test", ServiceTestHandler),
    ("references", ReferencesHandler),
    ("references/entry", ReferenceEntryHandler),
    ("references/edit", ReferenceEditHandler),
    ("references/delete", ReferenceDeletionHandler),
    ("references/styles", CitationStylesHandler),
    ("references/citation", CitationHandler),
    ("references/format", FormatHandler),
    ("references/check", ReferenceCheckHandler),
    ("variables", VariablesHandler),
    ("skills", SkillsHandler),
    ("instructions", InstructionsHandler),
    ("memory", MemoryHandler),
    (f"memory/{ID}", StatementHandler),
    ("notifications", NotificationsHandler),
    ("notifications/seen", SeenHandler),
    ("notifications/test", TestNotificationHandler),
    ("notifications/webhook", WebhookHandler),
    ("notifications/secret", WebhookSecretHandler),
    ("schedules", SchedulesHandler),
    ("schedules/preview", SchedulePreviewHandler),
    ("schedules/watchers", WatchersHandler),
    (f"schedules/{ID}", ScheduleHandler),
    (f"schedules/{ID}/run", ScheduleRunHandler),
    (f"schedules/{ID}/runs", ScheduleRunsHandler),
    *MCP_SERVER_HANDLERS,
    *MCP_CONTENT_HANDLERS,
)


def api_routes(
    prefix: str,
    host_source: HostSource,
    connections: PageConnectionRegistry,
    secrets: KernelSecrets,
    *,
    open_to_kernels: bool,
) -> list[Route]:
    """Return every route, as patterns that start with ``prefix``; the last one matches the rest.

    ``open_to_kernels``: whether kernels' secrets open the routes of ``kernel_access``.
    """
    with_host = {"host_source": host_source}
    kernel_access = kernel_access_by_route(secrets if open_to_kernels else None)
    return [
        *(
            (f"{prefix}{pattern}", handler, {**with_host, **kernel_access.get(pattern, {})})
            for pattern, handler in _HANDLERS
        ),
        (
            f"{prefix}kernels/{ID}/proxy-secret",
            KernelSecretHandler,
            {**with_host, "secrets": secrets},
        ),
        (
            f"{prefix}socket",
            PageSocketHandler,
            {**with_host, "connections": connections, **kernel_access.get(SOCKET, {})},
        ),
        (f"{prefix}.*", UnknownRouteHandler, with_host),
    ]
