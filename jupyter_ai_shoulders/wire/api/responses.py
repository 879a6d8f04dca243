"""Answers of the HTTP API (chapter 02)."""

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
    """What is known of a provider without asking it for tokens."""

    id: ProviderId
    name: str
    kind: str
    key_set: bool
    key_last4: str | None
    key_source: Literal["environment", "keyring", "file", "none"]
    key_name: str | None
    """Of the variable that holds the key; null where none is needed."""
    needs_key: bool
    host: str
    """Where requests go; a ``${NAME}`` in it is not expanded. Empty for the demo."""
    local: bool
    """Whether that is this machine, or an Ollama of one's own."""
    state: Literal["unknown", "ok", "failing", "no_key"]
    error: ErrorInfo | None
    custom: bool
    """Whether the user's own models.json has entries of it, which a page can change and remove."""


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
    """Whether pages share their notebooks in rooms, where the agent edits them too."""
    document_server: str | None
    """What to know of another extension that keeps the notebooks instead; null without one."""
    sandbox: Literal["none", "landlock", "bubblewrap", "seatbelt"]
    state_directory_error: ErrorInfo | None
    """Why conversations cannot be kept, or what was lost to damage while the file is kept."""
    usage_error: ErrorInfo | None
    """Why model usage cannot be counted; with a limit set, no model is called then."""
    package_errors: tuple[ErrorInfo, ...]
    """What is wrong with installed packages that bring tools; theirs are not used."""


class Prices(WireModel):
    """Micro-dollars per million tokens; null where unknown."""

    input: int | None
    output: int | None
    cache_read: int | None
    cache_write: int | None


class ModelInfo(WireModel):
    """A model as the picker shows it."""

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
    """A remark that must stand beside the name ("Demo (no AI model)")."""


class SingleCallModel(WireModel):
    """Which model makes the single calls of one kind, outside of conversations."""

    purpose: Literal["ghost", "cheapest"]
    """``cheapest`` writes titles and summaries."""
    model: ModelId | None
    reason: str | None
    """Why none does."""


class ModelList(WireModel):
    """``GET models``."""

    models: tuple[ModelInfo, ...]
    default: ModelId | None
    default_set: bool
    """Whether it is the one the settings name: that stands above what was chosen last."""
    default_is_stand_in: bool
    """Whether it is only for now: the demo where nothing is set up, or another model while the one
    that is wanted does not answer. A page names no model then, so that the server decides."""
    single_calls: tuple[SingleCallModel, ...]
    providers: tuple[ProviderHealth, ...]
    problems: tuple[SettingsProblem, ...]
    """What is wrong in the files of models and providers; it is not used."""


class ProviderTest(WireModel):
    """``POST providers/{id}/test``: one real round trip."""

    ok: bool
    model: ModelId | None
    duration_ms: int
    """In all, with the second call that tells what is broken."""
    first_delta_ms: int | None
    """Until the first piece of the answer; null when none came."""
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
    """Whether a sandbox holds what it runs; null when it runs nothing."""
    enabled: bool
    off_because: OffReason | None
    """Why it is not enabled: it was switched off, as all external tools were, or the settings
    forbid what it does (``commands.mode``)."""
    parameters: JsonObject


class Rule(WireModel):
    """A permission rule; ``problem`` says why it is invalid (it then denies)."""

    action: Literal["allow", "ask", "deny"]
    tool: str
    match: JsonObject | None
    examples: RuleExamples | None
    problem: str | None
    line: int | None
    """Where it stands in ``.shoulders/tools.json``; null for the administrator's."""
    locked: bool
    """The administrator's: no file and no answer loosens it."""
    applies: bool
    """False for a rule that allows and came with the folder, until the person trusts it."""
    note: str | None = None
    """What limits a valid rule: one that allows a command may cover a single line only."""


class ToolList(WireModel):
    """``GET tools``."""

    tools: tuple[ToolInfo, ...]
    disabled: tuple[str, ...]
    disable_external: bool
    rules: tuple[Rule, ...]
    """The administrator's first, then those of the file."""
    problems: tuple[str, ...]
    """What is wrong with the file or worth a look, with lines."""
    revision: str
    """Names what is stored, for ``PUT tools/permissions``."""


class KernelNotebook(WireModel):
    """``GET kernels/{id}/notebook``: its path in the workspace; null of a kernel without one."""

    path: str | None


class ProxySecret(WireModel):
    """``POST kernels/{id}/proxy-secret``."""

    secret: str
    """Opens the model proxy, and nothing else, while the kernel runs. Not to be shown or stored."""
    path: str
    """Of the proxy on this server; SDKs add ``/v1``."""


class ProposalList(WireModel):
    """``GET proposals``."""

    proposals: tuple[Proposal, ...]
