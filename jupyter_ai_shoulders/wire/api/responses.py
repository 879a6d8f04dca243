"""Response bodies of the HTTP API."""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.api.commands import RuleExamples
from jupyter_ai_shoulders.wire.api.settings import SettingsProblem
from jupyter_ai_shoulders.wire.base import JsonObject, WireModel
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Event, Risk
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId, TurnId
from jupyter_ai_shoulders.wire.sessions import Session


class ProviderHealth(WireModel):
    """The state of a provider, determined without using tokens."""

    id: ProviderId
    name: str
    kind: str
    key_set: bool
    key_last4: str | None
    key_source: Literal["environment", "keyring", "file", "none"]
    key_name: str | None
    """Name of the variable that holds the key; null where none is needed."""
    needs_key: bool
    host: str
    """Destination of requests; a ``${NAME}`` in it is not expanded. Empty for the demo."""
    local: bool
    """Whether the destination is this machine, or the user's own Ollama."""
    state: Literal["unknown", "ok", "failing", "no_key"]
    error: ErrorInfo | None
    custom: bool
    """Whether the user's models.json has entries for it, which a page can change and remove."""


class Status(WireModel):
    """``GET status``."""

    version: str
    wire_version: int
    workspace: str
    models: Literal["none", "demo", "ready"]
    """``demo`` when only the demo provider can answer."""
    default_model: ModelId | None
    providers: tuple[ProviderHealth, ...]
    demo: bool
    collaboration: bool
    """Whether pages share notebooks in rooms, where the agent edits them too."""
    document_server: str | None
    """A note about another extension that manages the notebooks; null without one."""
    sandbox: Literal["none", "landlock", "bubblewrap", "seatbelt"]
    state_directory_error: ErrorInfo | None
    """Why conversations cannot be stored, or what was lost to damage while the file is kept."""
    usage_error: ErrorInfo | None
    """Why model usage cannot be recorded; with a limit set, no model is called then."""
    package_errors: tuple[ErrorInfo, ...]
    """Problems of installed packages with tools; their tools are not used."""


class Prices(WireModel):
    """Micro-dollars per million tokens; null where unknown."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None


class ModelInfo(WireModel):
    """A model as shown in the picker."""

    id: ModelId
    name: str
    provider: ProviderId
    provider_name: str
    available: bool
    unavailable_reason: str | None
    context_window: int | None
    max_output: int | None
    tools: bool
    images: bool
    reasoning: bool
    prices: Prices
    roles: tuple[str, ...]
    label: str | None
    """A remark shown beside the name ("Demo (no AI model)")."""


class SingleCallModel(WireModel):
    """The model of one kind of single calls, outside conversations."""

    purpose: Literal["ghost", "cheapest"]
    """``cheapest`` writes titles and summaries."""
    model: ModelId | None
    reason: str | None
    """Why there is none."""


class ModelList(WireModel):
    """``GET models``."""

    models: tuple[ModelInfo, ...]
    default: ModelId | None
    default_set: bool
    """Whether the settings name the default model, which then precedes the last choice."""
    default_is_stand_in: bool
    """Whether the default is temporary: the demo when nothing is set up, or another model while the
    wanted one does not answer. A page then sends no model, so that the server decides.
    """
    single_calls: tuple[SingleCallModel, ...]
    providers: tuple[ProviderHealth, ...]
    problems: tuple[SettingsProblem, ...]
    """Problems in the files of models and providers; the faulty parts are not used."""


class ProviderTest(WireModel):
    """``POST providers/{id}/test``: one real round trip."""

    ok: bool
    model: ModelId | None
    duration_ms: int
    """Total duration, including the second call that locates a failure."""
    first_delta_ms: int | None
    """Time to the first part of the answer; null if none came."""
    stream_ok: bool
    tool_call_ok: bool
    error: ErrorInfo | None


class SessionList(WireModel):
    """``GET sessions``."""

    sessions: tuple[Session, ...]
    next_cursor: str | None


class EventPage(WireModel):
    """``GET sessions/{id}/events``."""

    events: tuple[Event, ...]
    last_seq: int
    has_more: bool


class MessageAccepted(WireModel):
    """``POST sessions/{id}/messages``."""

    turn_id: TurnId
    seq: int


OffReason = Literal["disabled", "external", "settings"]


class ToolInfo(WireModel):
    """A tool of the catalogue."""

    name: str
    category: str
    description: str
    risk: Risk
    external: bool
    sandboxed: bool | None
    """Whether a sandbox confines its programs; null when it runs none."""
    enabled: bool
    off_because: OffReason | None
    """Why it is not enabled: it was switched off, all external tools were, or the settings forbid
    it (``commands.mode``).
    """
    parameters: JsonObject


class RuleInfo(WireModel):
    """A permission rule; ``problem`` says why it is invalid (it then denies)."""

    action: Literal["allow", "ask", "deny"]
    tool: str
    match: JsonObject | None
    examples: RuleExamples | None
    problem: str | None
    line: int | None
    """Its line in ``.shoulders/tools.json``; null for the administrator's."""
    locked: bool
    """Whether it is the administrator's, which no file or answer can relax."""
    applies: bool
    """False for an allowing rule that came with the folder, until the user trusts it."""
    note: str | None = None
    """A limitation of a valid rule: one that allows a command may cover a single line only."""


class ToolList(WireModel):
    """``GET tools``."""

    tools: tuple[ToolInfo, ...]
    disabled: tuple[str, ...]
    disable_external: bool
    rules: tuple[RuleInfo, ...]
    """The administrator's first, then those of the file."""
    problems: tuple[str, ...]
    """Problems and remarks about the file, with lines."""
    revision: str
    """Identifies the stored rules, for ``PUT tools/permissions``."""


class KernelNotebook(WireModel):
    """``GET kernels/{id}/notebook``: its workspace path; null for a kernel without a notebook."""

    path: str | None


class ProxySecret(WireModel):
    """``POST kernels/{id}/proxy-secret``."""

    secret: str
    """Authorises the model proxy only, while the kernel runs. Must not be shown or stored."""
    path: str
    """Path of the proxy on this server; SDKs add ``/v1``."""


class ProposalList(WireModel):
    """``GET proposals``."""

    proposals: tuple[Proposal, ...]
