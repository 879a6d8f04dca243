"""The routes below ``{base_url}shoulders/api/v1/``, imported when the first of them is asked for.

``server.lazy`` loads this module, so that starting the server costs none of its imports.
"""

from __future__ import annotations

from tornado.web import RequestHandler

from jupyter_ai_shoulders.server.anchors import AdoptHandler, AnchorsHandler
from jupyter_ai_shoulders.server.artifacts import ArtifactHandler
from jupyter_ai_shoulders.server.audit import AuditHandler
from jupyter_ai_shoulders.server.base import HostSource
from jupyter_ai_shoulders.server.blobs import BlobHandler
from jupyter_ai_shoulders.server.completions import CompletionHandler, CompletionsHandler
from jupyter_ai_shoulders.server.edits import EditHandler, EditsHandler
from jupyter_ai_shoulders.server.events import EventsHandler
from jupyter_ai_shoulders.server.export import ExportHandler
from jupyter_ai_shoulders.server.instructions import InstructionsHandler
from jupyter_ai_shoulders.server.kernel_secrets import KernelSecretHandler
from jupyter_ai_shoulders.server.lazy import Route
from jupyter_ai_shoulders.server.mentions import (
    FileSearchHandler,
    SkillsHandler,
    VariablesHandler,
)
from jupyter_ai_shoulders.server.messages import MessageHandler, MessagesHandler
from jupyter_ai_shoulders.server.models import (
    ModelsHandler,
    ProviderCheckHandler,
    ProviderKeyHandler,
    ProviderTestHandler,
)
from jupyter_ai_shoulders.server.not_found import UnknownRouteHandler
from jupyter_ai_shoulders.server.operations import OperationsHandler, OperationUndoHandler
from jupyter_ai_shoulders.server.proposals import ProposalHandler, ProposalsHandler
from jupyter_ai_shoulders.server.proxy.kernel_secrets import KernelSecrets
from jupyter_ai_shoulders.server.requests import PreviewHandler, SentRequestHandler
from jupyter_ai_shoulders.server.roster import PageRoster
from jupyter_ai_shoulders.server.runs import RunsHandler
from jupyter_ai_shoulders.server.sessions import (
    ForkHandler,
    SessionHandler,
    SessionsHandler,
    UndeleteHandler,
)
from jupyter_ai_shoulders.server.settings import SettingsHandler
from jupyter_ai_shoulders.server.socket import PageSocketHandler
from jupyter_ai_shoulders.server.status import StatusHandler
from jupyter_ai_shoulders.server.tools import PermissionsHandler, ToolsHandler
from jupyter_ai_shoulders.server.turns import (
    ApprovalHandler,
    CancelHandler,
    ClarificationHandler,
    CompactHandler,
    InputHandler,
    RestoreHandler,
    ResumeHandler,
    SuppliedResultHandler,
    UndoHandler,
)
from jupyter_ai_shoulders.server.usage import BudgetHandler, UsageHandler

_ID = "([^/]+)"
_HANDLERS: tuple[tuple[str, type[RequestHandler]], ...] = (
    ("status", StatusHandler),
    ("models", ModelsHandler),
    ("settings", SettingsHandler),
    ("usage", UsageHandler),
    ("budget", BudgetHandler),
    (f"providers/{_ID}/test", ProviderTestHandler),
    (f"providers/{_ID}/check", ProviderCheckHandler),
    (f"providers/{_ID}/key", ProviderKeyHandler),
    ("sessions", SessionsHandler),
    (f"sessions/{_ID}", SessionHandler),
    (f"sessions/{_ID}/undelete", UndeleteHandler),
    (f"sessions/{_ID}/fork", ForkHandler),
    (f"sessions/{_ID}/export", ExportHandler),
    (f"sessions/{_ID}/events", EventsHandler),
    (f"sessions/{_ID}/messages", MessagesHandler),
    (f"sessions/{_ID}/messages/{_ID}", MessageHandler),
    (f"sessions/{_ID}/cancel", CancelHandler),
    (f"sessions/{_ID}/compact", CompactHandler),
    (f"sessions/{_ID}/resume", ResumeHandler),
    (f"sessions/{_ID}/restore", RestoreHandler),
    (f"sessions/{_ID}/undo", UndoHandler),
    (f"sessions/{_ID}/approvals/{_ID}", ApprovalHandler),
    (f"sessions/{_ID}/requests/([0-9]{{1,6}})", SentRequestHandler),
    (f"sessions/{_ID}/preview", PreviewHandler),
    (f"sessions/{_ID}/clarifications/{_ID}", ClarificationHandler),
    (f"sessions/{_ID}/stdin/{_ID}", InputHandler),
    (f"sessions/{_ID}/tool-results/{_ID}", SuppliedResultHandler),
    ("anchors", AnchorsHandler),
    ("anchors/adopt", AdoptHandler),
    ("runs", RunsHandler),
    (f"artifacts/{_ID}/{_ID}", ArtifactHandler),
    (f"blobs/{_ID}", BlobHandler),
    ("edits", EditsHandler),
    (f"edits/{_ID}", EditHandler),
    ("proposals", ProposalsHandler),
    (f"proposals/{_ID}", ProposalHandler),
    ("tools", ToolsHandler),
    ("tools/permissions", PermissionsHandler),
    ("audit", AuditHandler),
    ("operations", OperationsHandler),
    (f"operations/{_ID}/undo", OperationUndoHandler),
    ("completions", CompletionsHandler),
    (f"completions/{_ID}", CompletionHandler),
    ("files/search", FileSearchHandler),
    ("variables", VariablesHandler),
    ("skills", SkillsHandler),
    ("instructions", InstructionsHandler),
)


def api_routes(
    prefix: str, host_source: HostSource, roster: PageRoster, secrets: KernelSecrets
) -> list[Route]:
    """Return every route, as patterns that start with ``prefix``; the last one takes the rest."""
    with_host = {"host_source": host_source}
    return [
        *((f"{prefix}{pattern}", handler, with_host) for pattern, handler in _HANDLERS),
        (
            f"{prefix}kernels/{_ID}/proxy-secret",
            KernelSecretHandler,
            {**with_host, "secrets": secrets},
        ),
        (f"{prefix}socket", PageSocketHandler, {**with_host, "roster": roster}),
        (f"{prefix}.*", UnknownRouteHandler, with_host),
    ]
