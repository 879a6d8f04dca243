"""The wire models that the client sends and receives; imported with its first call."""

from jupyter_ai_shoulders.wire.api.agent_data.database import AgentDatabase
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerInput,
    AnswerQuestion,
    CreateSession,
    PatchSession,
    SendMessage,
    StartRun,
)
from jupyter_ai_shoulders.wire.api.responses import (
    EventPage,
    KernelNotebook,
    MessageAccepted,
    ModelInfo,
    ModelList,
    ProxySecret,
    SessionList,
    Status,
)
from jupyter_ai_shoulders.wire.api.search import DocumentKind, SearchMatch, SearchResults
from jupyter_ai_shoulders.wire.api.settings import DataValues, Settings
from jupyter_ai_shoulders.wire.errors import ErrorBody, ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.events import (
    ApprovalRequest,
    ApprovalScope,
    ClarifyRequest,
    StdinRequest,
    TurnStart,
)
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.sessions import (
    Mode,
    Session,
    SessionKind,
    SessionSource,
    Toolset,
    ToolsMode,
)
from jupyter_ai_shoulders.wire.usage import Usage, UsageBy

__all__ = [
    "AgentDatabase",
    "AnswerApproval",
    "AnswerInput",
    "AnswerQuestion",
    "ApprovalScope",
    "Attachment",
    "CreateSession",
    "DataValues",
    "DocumentKind",
    "ErrorBody",
    "ErrorCode",
    "ErrorInfo",
    "EventPage",
    "KernelNotebook",
    "MessageAccepted",
    "MessageContext",
    "Mode",
    "ModelInfo",
    "ModelList",
    "PatchSession",
    "ProxySecret",
    "Question",
    "SearchMatch",
    "SearchResults",
    "SendMessage",
    "Session",
    "SessionKind",
    "SessionList",
    "SessionSource",
    "Settings",
    "StartRun",
    "Status",
    "ToolsMode",
    "Toolset",
    "TurnStart",
    "Usage",
    "UsageBy",
]

Question = ApprovalRequest | ClarifyRequest | StdinRequest
"""A call's request to the user."""
