"""The contract of a tool.

A tool names its argument model, describes what a call would affect, and runs. Its constructor takes
the ports it needs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, NewType, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ConfigDict

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorCode, ErrorInfo
from jupyter_ai_shoulders.wire.events import ArtifactShare, Risk, TodoUpdate
from jupyter_ai_shoulders.wire.ids import (
    BlobHash,
    CallId,
    CellId,
    ClientId,
    SessionId,
    TurnId,
    Version,
)
from jupyter_ai_shoulders.wire.messages import Selection
from jupyter_ai_shoulders.wire.parts import ResultContent, TextPart
from jupyter_ai_shoulders.wire.results import SeenVersion, ToolEnvelope
from jupyter_ai_shoulders.wire.sessions import Mode, Toolset

BuiltInCategory = Literal[
    "loop",
    "document",
    "notebook",
    "workspace",
    "git",
    "references",
    "web",
    "word",
    "feedback",
    "threads",
    "planning",
    "agent",
    "installed",
    "internal",
]
"""``internal``: carries out requests of agents of others; never offered to a model."""
ServerCategory = NewType("ServerCategory", str)
"""The category of the tools of one MCP server, such as ``mcp__github``."""
Category = BuiltInCategory | ServerCategory


class ToolArguments(BaseModel):
    """Base of argument models. Unknown arguments are refused, so that a typo is noticed."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a call, for rules, locks, approvals and the conversation."""

    path: str | None = None
    new_path: str | None = None
    """The destination of a moved file; rules judge it like ``path``."""
    cell_id: CellId | None = None
    command: str | None = None
    domain: str | None = None
    definition: str | None = None
    """What a tool of an MCP server says of itself (``tools.permissions.definitions``)."""


@dataclass(frozen=True, slots=True)
class Effect:
    """The expected effect of a durable call, logged before it happens.

    After a crash the target's version shows the outcome: still ``before_version`` or already
    ``expected_version``. None: not known in advance.
    """

    before_version: Version | None = None
    expected_version: Version | None = None
    kernel_id: str | None = None
    pid: int | None = None
    process_start: str | None = None


@dataclass(frozen=True, slots=True)
class UserQuestion:
    """What ``clarify`` asks the user."""

    text: str
    options: tuple[str, ...] = ()
    allow_multiple: bool = False


@dataclass(frozen=True, slots=True)
class CallSubject:
    """How a call is shown and judged, computed from its arguments before it runs.

    ``preview`` is the exact code, command or diff; ``undoable`` whether the change can be undone;
    ``in_page`` whether it happens in a document the user has open.
    """

    title: str
    target_label: str | None
    target: Target
    preview: str | None = None
    language: str | None = None
    undoable: bool = False
    changes: str = "a file that is not open"
    """What an undoable write changes, to finish "This changes …"."""
    in_page: bool = False
    moves_or_removes: bool = False
    """Whether it moves or removes a file; this asks in every mode except ``bypass``."""
    dry_run: bool = False
    """Whether it only reports its change."""
    is_approved: bool = False
    """Whether the user has allowed exactly this in another question, of an agent of others."""
    asks_after_foreign_text: bool = False
    """Whether it asks in every mode, whatever was allowed, once the conversation has read foreign
    text, because words of the agent leave this machine or enter later conversations. Before that, a
    change that can be undone does not ask.
    """
    reads_secret: bool = False
    """Whether it reads a secret file; this asks in every mode."""
    preview_is_complete: bool = False
    """Whether ``preview`` shows the whole effect; if it differs when the call starts, the call does
    not run.
    """
    effect: Effect = Effect()
    address: str | None = None
    """The web address that it fetches; one that neither the user nor a search named asks."""
    always_ask_reason: str | None = None
    """Why the call asks despite earlier permission, such as a tag the user set on the cell."""
    protected_path: str | None = None
    """A protected file that the command names; this asks in every mode."""
    last_duration_ms: int | None = None
    """Duration of the last run, if long enough to mention."""
    sandboxed: bool | None = None
    """For a command: whether it runs in a sandbox; without one it always asks."""
    network: bool | None = None
    """For a sandboxed command: whether it may use the network."""
    read_only: bool | None = None
    """For a sandboxed command: whether the workspace is read-only."""
    notes: tuple[str, ...] = ()
    """Sentences for the approval, such as changes that cannot be undone."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Output of a running call."""

    channel: Literal["stdout", "stderr", "output", "status"]
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a call: the envelope for people and programs, the content for the model."""

    envelope: ToolEnvelope
    content: tuple[ResultContent, ...]
    seen: tuple[SeenVersion, ...] = ()
    proposal: Proposal | None = None
    """A proposal to record (a conflict, or ``create_proposal``)."""
    handle: BlobHash | None = None
    after_version: Version | None = None
    ends_turn: bool = False
    """Set by ``complete``: the turn ends after this step's results."""
    question: UserQuestion | None = None
    """Set by ``clarify``: in an interactive session the answer becomes the result instead."""
    events: tuple[TodoUpdate | ArtifactShare, ...] = ()
    """Events to record once after a successful result."""
    is_cancelled: bool = False
    """Whether the user stopped the call but not its turn."""

    @property
    def ok(self) -> bool:
        """Return whether the call succeeded."""
        return self.envelope.ok


@dataclass(frozen=True, slots=True)
class BackgroundCall:
    """Reports that the call may outlast its step.

    ``current_result`` returns the output so far as a successful result, at any time.
    """

    current_result: Callable[[], Result]
    detached: bool = False
    """Whether its step ends without waiting for it."""


@dataclass(frozen=True, slots=True)
class InputRequested:
    """The code that the call runs, or its server, asks the user for a line of text."""

    prompt: str
    password: bool
    choices: tuple[str, ...] = ()
    """Answers that are offered; empty: any text."""


@dataclass(frozen=True, slots=True)
class InputEnded:
    """The question was answered, or the code no longer waits for an answer."""

    answered: bool


ToolOutput = Progress | BackgroundCall | InputRequested | InputEnded | Result
"""The values a running tool yields."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """The engine's facts about a call; values only, no services."""

    session_id: SessionId
    turn_id: TurnId
    call_id: CallId
    seen: Mapping[tuple[str, CellId | None], Version]
    """Versions this conversation has read, by path and cell."""
    active_document: str | None
    active_cell_id: CellId | None = None
    """The active cell, if the active document is a notebook."""
    selection: Selection | None = None
    """The selection in the active document when the user wrote."""
    step: int = 0
    """The step of the turn; calls of one step do not know each other's results."""
    toolset: Toolset = "full"
    mode: Mode = "ask"
    handles: Collection[BlobHash] = ()
    """Blobs of complete outputs that results of this conversation truncated."""
    plan: JsonObject | None = None
    """The state carried over from a plan that must be revised (``tools.planning.plan``)."""
    interactive: bool = True
    """Whether someone can answer input requests of code."""
    earlier_versions: Mapping[tuple[str, CellId | None], tuple[Version, ...]] = field(
        default_factory=dict[tuple[str, CellId | None], tuple[Version, ...]]
    )
    """Versions read before those in ``seen``, newest first."""
    undone: Collection[tuple[str, CellId | None]] = ()
    """Documents and cells whose changes the user undid and the conversation has not read since."""
    client_id: ClientId | None = None
    """The page of the last user message."""
    withheld: frozenset[str] = frozenset()
    """Tools that this conversation never has (``tools.agent.withheld_tools``)."""
    subject: CallSubject | None = None
    """The subject that was compared with the approval just before the call runs."""


ArgsT = TypeVar("ArgsT", bound=ToolArguments)


class Tool(Protocol[ArgsT]):
    """The port of a tool. ``run`` yields progress and ends with exactly one ``Result``.

    Failures are results with an error; exceptions other than ``ShouldersError`` and cancellation
    are bugs. A cancelled run settles its effect (such as interrupting its kernel) before the
    cancellation propagates.
    """

    name: ClassVar[str]
    category: ClassVar[Category]
    risk: ClassVar[Risk]
    external: ClassVar[bool]
    idempotent: ClassVar[bool]
    toolsets: ClassVar[frozenset[Toolset]]
    arguments: type[ArgsT]

    @abstractmethod
    async def subject(self, args: ArgsT, context: CallContext) -> CallSubject:
        """Return how this call is shown and judged. Raises ``ShouldersError``."""
        ...

    @abstractmethod
    def run(self, args: ArgsT, context: CallContext) -> AsyncIterator[ToolOutput]: ...


_NOTEBOOK_TOOLSETS: frozenset[Toolset] = frozenset({"notebook", "workspace", "full"})
_WORKSPACE_TOOLSETS: frozenset[Toolset] = frozenset({"workspace", "full"})
_TOOLSETS: Mapping[str, frozenset[Toolset]] = {
    "loop": frozenset({"document", "notebook", "workspace", "full"}),
    "document": frozenset({"document", "full"}),
    "notebook": _NOTEBOOK_TOOLSETS,
    "workspace": _WORKSPACE_TOOLSETS,
    "git": _WORKSPACE_TOOLSETS,
    "references": _NOTEBOOK_TOOLSETS,
    "web": _NOTEBOOK_TOOLSETS,
    "word": _WORKSPACE_TOOLSETS,
    "feedback": _NOTEBOOK_TOOLSETS,
    "threads": _NOTEBOOK_TOOLSETS,
    "planning": _NOTEBOOK_TOOLSETS,
    "agent": _NOTEBOOK_TOOLSETS,
    "installed": _NOTEBOOK_TOOLSETS,
    "internal": frozenset(),
}


def toolsets_of(category: Category) -> frozenset[Toolset]:
    """Return the toolsets that offer a category; servers' tools are for work in a workspace."""
    return _TOOLSETS.get(category, _NOTEBOOK_TOOLSETS)


class BaseTool(Tool[ArgsT]):
    """Defaults for the attributes of a ``Tool``.

    A tool states its name, category, risk and arguments. The category gives ``toolsets``, the risk
    gives ``idempotent`` (true for reads), unless the same class states them. ``risk`` has no
    default, so that no tool runs without a question by oversight.
    """

    external = False

    def __init_subclass__(cls) -> None:
        """Derive ``idempotent`` and ``toolsets``."""
        super().__init_subclass__()
        stated = vars(cls)
        if "risk" in stated and "idempotent" not in stated:
            cls.idempotent = cls.risk == "read"
        if "category" in stated and "toolsets" not in stated:
            cls.toolsets = toolsets_of(cls.category)


@runtime_checkable
class PreparableTool(Protocol):
    """A tool that must create something, such as a process, to identify its effect.

    The created object does nothing until ``run`` is called with the same context, and ends by
    itself if that never happens.
    """

    async def prepare(self, context: CallContext) -> Effect:
        """Return the effect's identity for the log. Raises ``ShouldersError``."""
        ...


def text_content(text: str) -> tuple[ResultContent, ...]:
    """Return model-facing content made of one text."""
    return (TextPart(text=text),)


def refusal(message: str, hint: str, code: ErrorCode = "invalid_arguments") -> Result:
    """Return the result of a call that did nothing, with a hint for the model."""
    error = ErrorInfo(code=code, message=message, hint=hint)
    return Result(
        envelope=ToolEnvelope(ok=False, kind="none", data=None, error=error),
        content=text_content(f"{message} {hint}"),
    )
