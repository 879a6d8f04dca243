"""The contract of a tool.

A tool is a small class: it names its argument model, says what a call would touch, and runs.
It gets the one to three ports it needs in its constructor.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol, TypeVar, runtime_checkable

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

Category = Literal[
    "loop",
    "document",
    "notebook",
    "workspace",
    "git",
    "feedback",
    "threads",
    "planning",
    "installed",
]


class ToolArguments(BaseModel):
    """Base of argument models: unknown arguments are refused, so that a typo is seen."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Target:
    """What a call touches, for rules, locks, approvals and the line in the conversation."""

    path: str | None = None
    new_path: str | None = None
    """Where a file goes; rules look at it as they do at ``path``."""
    cell_id: CellId | None = None
    command: str | None = None
    domain: str | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a call is about to do to what: written to the log before it does (durable calls).

    After a crash the target's version tells whether it was done: still ``before_version``, or
    ``expected_version``. What cannot be told beforehand is None.
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
    """How a call is shown and judged: made before it runs, from its arguments.

    ``preview`` is the exact code, command or diff; ``undoable`` whether the change can be taken
    back; ``in_page`` whether it happens in a document the user has open.
    """

    title: str
    target_label: str | None
    target: Target
    preview: str | None = None
    language: str | None = None
    undoable: bool = False
    in_page: bool = False
    moves_or_removes: bool = False
    """Whether it moves or removes a file, which asks in every mode but ``bypass``."""
    dry_run: bool = False
    """Whether it only tells what it would change."""
    reads_secret: bool = False
    """Whether it shows a file that usually holds keys: the user is asked in every mode."""
    preview_is_complete: bool = False
    """Whether ``preview`` shows all of what it does: what shows otherwise by then does not run."""
    effect: Effect = Effect()
    always_ask_reason: str | None = None
    """Why it asks however often it was allowed: the user has marked what it would run."""
    protected_path: str | None = None
    """What a command names that the agent is told later, or that runs: it asks in every mode."""
    last_duration_ms: int | None = None
    """How long it took last time, when that is worth saying."""
    sandboxed: bool | None = None
    """Of a command: whether a sandbox holds it; one without a sandbox always asks."""
    network: bool | None = None
    """Of a sandboxed command: whether it may use the network."""
    read_only: bool | None = None
    """Of a sandboxed command: whether it may write nothing in the workspace."""
    notes: tuple[str, ...] = ()
    """Sentences to weigh before it is allowed, such as what cannot be taken back."""


@dataclass(frozen=True, slots=True)
class Progress:
    """Output of a running call."""

    channel: Literal["stdout", "stderr", "output", "status"]
    text: str


@dataclass(frozen=True, slots=True)
class Result:
    """The end of a call: the envelope for people, the content for the model."""

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
    """Set by ``clarify``: where somebody is there to ask, the answer becomes the result instead."""
    events: tuple[TodoUpdate | ArtifactShare, ...] = ()
    """What the conversation shows of it; recorded after a result that is ok, once."""

    @property
    def ok(self) -> bool:
        """Return whether the call succeeded."""
        return self.envelope.ok


@dataclass(frozen=True, slots=True)
class BackgroundCall:
    """The call may outlast its step, and ends in its own time.

    ``look`` returns what there is so far, at any moment, as a result that is ok.
    """

    current_result: Callable[[], Result]
    detached: bool = False
    """Whether its step need not wait for it at all."""


@dataclass(frozen=True, slots=True)
class InputRequested:
    """The code that the call runs asks the user for a line of text."""

    prompt: str
    password: bool


@dataclass(frozen=True, slots=True)
class InputEnded:
    """The question was answered, or nobody waits for its answer any more."""

    answered: bool


ToolOutput = Progress | BackgroundCall | InputRequested | InputEnded | Result
"""What a running tool yields."""


@dataclass(frozen=True, slots=True)
class CallContext:
    """What the engine knows of a call; values only, no services."""

    session_id: SessionId
    turn_id: TurnId
    call_id: CallId
    seen: Mapping[tuple[str, CellId | None], Version]
    """Versions this conversation has read, by path and cell."""
    active_document: str | None
    active_cell_id: CellId | None = None
    """In the active document, where it is a notebook."""
    selection: Selection | None = None
    """What the user had selected in the active document when they wrote."""
    step: int = 0
    """The step of the turn: calls of one step were made without knowing each other's results."""
    toolset: Toolset = "full"
    mode: Mode = "ask"
    handles: Collection[BlobHash] = ()
    """Blobs with whole outputs, of which results of this conversation showed a part."""
    plan: JsonObject | None = None
    """What a plan that asked to be made anew left behind (``tools.planning.plan``)."""
    interactive: bool = True
    """Whether somebody may be there to answer what code asks for."""
    earlier_versions: Mapping[tuple[str, CellId | None], tuple[Version, ...]] = field(
        default_factory=dict[tuple[str, CellId | None], tuple[Version, ...]]
    )
    """Versions read before those in ``seen``, newest first."""
    undone: Collection[tuple[str, CellId | None]] = ()
    """What the user undid, as the conversation was told, and it has not read again."""
    client_id: ClientId | None = None
    """The page that the user wrote in last."""
    subject: CallSubject | None = None
    """What was compared with the approval right before the call runs."""


ArgsT = TypeVar("ArgsT", bound=ToolArguments)


class Tool(Protocol[ArgsT]):
    """One tool. ``run`` yields what there is to tell and ends with exactly one ``Result``.

    Failures are results with an error; exceptions other than ``ShouldersError`` and
    cancellation are bugs. A cancelled run settles its effect (interrupts the kernel it used)
    before the cancellation leaves it.
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
_TOOLSETS: Mapping[Category, frozenset[Toolset]] = {
    "loop": frozenset({"document", "notebook", "workspace", "full"}),
    "document": frozenset({"document", "full"}),
    "notebook": _NOTEBOOK_TOOLSETS,
    "workspace": _WORKSPACE_TOOLSETS,
    "git": _WORKSPACE_TOOLSETS,
    "feedback": _NOTEBOOK_TOOLSETS,
    "threads": _NOTEBOOK_TOOLSETS,
    "planning": _NOTEBOOK_TOOLSETS,
    "installed": _NOTEBOOK_TOOLSETS,
}


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
            cls.toolsets = _TOOLSETS[cls.category]


@runtime_checkable
class PreparableTool(Protocol):
    """A tool whose effect has a name only once something is made for it, such as a process.

    What ``prepare`` makes does nothing before ``run`` is called with the same context, and ends by
    itself when it never is.
    """

    async def prepare(self, context: CallContext) -> Effect:
        """Return what the effect will be known by, for the log. Raises ``ShouldersError``."""
        ...


def text_content(text: str) -> tuple[ResultContent, ...]:
    """Return model-facing content made of one text."""
    return (TextPart(text=text),)


def refusal(message: str, hint: str, code: ErrorCode = "invalid_arguments") -> Result:
    """Return the result of a call that did nothing, so that the model can make it better."""
    error = ErrorInfo(code=code, message=message, hint=hint)
    return Result(
        envelope=ToolEnvelope(ok=False, kind="none", data=None, error=error),
        content=text_content(f"{message} {hint}"),
    )
