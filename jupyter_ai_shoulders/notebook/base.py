"""The Notebook port and the ports it needs from its host (chapter 06).

Tools speak to ``Notebook`` and ``CellRunner`` only; whether the bytes live on disk, in a page
with unsaved edits or in a collaboration room is the back end's business.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, Protocol

from jupyter_client.asynchronous.client import AsyncKernelClient

from jupyter_ai_shoulders.guard.filesystem.workspace import WorkspacePath
from jupyter_ai_shoulders.notebook.kernel_channels import KernelChannels
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.frames import CellConflict
from jupyter_ai_shoulders.wire.ids import CallId, CellId, ClientId, RunId, SessionId, Version
from jupyter_ai_shoulders.wire.notebooks import CellEdit, NotebookCell

Backend = Literal["disk", "live", "shared"]


@dataclass(frozen=True, slots=True)
class NotebookSnapshot:
    """A notebook at one moment; ``outputs`` of a cell are None unless they were asked for."""

    path: str
    backend: Backend
    cells: Sequence[NotebookCell]
    """May be made as they are asked for: go through all of them only when all are needed."""
    metadata: JsonObject
    dirty: bool

    def cell(self, cell_id: CellId) -> NotebookCell | None:
        """Return the cell with this id."""
        position = self.position(cell_id)
        return None if position is None else self.cells[position]

    def position(self, cell_id: CellId) -> int | None:
        """Return where the cell stands, from 0."""
        return next((i for i, cell in enumerate(self.cells) if cell.id == cell_id), None)


@dataclass(frozen=True, slots=True)
class Applied:
    """The edits are in; ``inverse`` takes them back."""

    versions: Mapping[CellId, Version]
    inverse: tuple[CellEdit, ...]


@dataclass(frozen=True, slots=True)
class Conflicted:
    """Nothing was changed: these cells are not what was expected."""

    conflicts: tuple[CellConflict, ...]


class Notebook(Protocol):
    """One notebook, wherever it lives."""

    @property
    def path(self) -> str:
        """Return the workspace-relative path."""
        ...

    @property
    def backend(self) -> Backend:
        """Return where it lives now."""
        ...

    async def read(self, outputs: Collection[CellId] | Literal["all"] = ()) -> NotebookSnapshot:
        """Return the notebook now, with the outputs of the cells named.

        Raises ``NotFound``, ``InvalidNotebook``, ``Conflict`` (page not responding).
        """
        ...

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Apply all edits as one undo step, or none.

        ``expected`` gives the version each touched cell must have. Never overwrites a cell that
        has another one. Raises like ``read``.
        """
        ...


class Notebooks(Protocol):
    """Finds the back end a notebook lives in at this moment."""

    def open(self, path: str) -> Notebook:
        """Return the notebook at a workspace-relative path.

        Raises ``NotFound``, ``InvalidRequest``.
        """
        ...

    def in_page(self, path: str) -> bool:
        """Return whether a page has it open, so that an edit can be reviewed there."""
        ...


class NewNotebooks(Protocol):
    """Makes notebooks where there are none yet."""

    async def create(self, path: str, content: JsonObject) -> WorkspacePath:
        """Make a notebook of format 4; return its name. Its folder must exist.

        Raises ``Conflict`` when the path is taken, ``NotFound`` (folder), ``InvalidRequest``.
        """
        ...


class NotebookStore(Protocol):
    """Notebooks that no page is asked for: their files, or the rooms that write those."""

    def check(self, path: WorkspacePath) -> None:
        """Raise ``NotFound`` when it is known at once that there is no such notebook."""
        ...

    async def read(
        self, path: WorkspacePath, outputs: Collection[CellId] | Literal["all"] = ()
    ) -> NotebookSnapshot:
        """Return a notebook. Raises ``NotFound``, ``InvalidNotebook``."""
        ...

    async def apply(
        self, path: WorkspacePath, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Apply all edits, or none. Raises ``NotFound``, ``InvalidNotebook``, ``Conflict``."""
        ...


@dataclass(frozen=True, slots=True)
class RunQuestion:
    """A question of running code, as pages show it; ``number`` counts a run's from 1."""

    number: int
    prompt: str
    password: bool
    answer: Callable[[str], bool]
    """Passes on what the user typed; false when it was answered already."""


class Pages(Protocol):
    """The browser pages and the notebooks they have open; implemented by the server's socket."""

    def owner(self, path: str) -> ClientId | None:
        """Return the connected page focused last among those that have ``path`` open."""
        ...

    async def read(
        self, path: str, outputs: Collection[CellId] | Literal["all"]
    ) -> NotebookSnapshot:
        """Ask the owner for the notebook. Raises ``Conflict`` with ``page_not_responding``."""
        ...

    async def apply(
        self, path: str, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Ask the owner to change the notebook.

        Raises ``Conflict`` with ``page_not_responding``.
        """
        ...

    def run_started(self, path: str, cell_id: CellId, run_id: RunId) -> None:
        """Show the cell as running in every page that has it open."""
        ...

    def run_output(
        self,
        path: str,
        cell_id: CellId,
        run_id: RunId,
        index: int,
        outputs: Sequence[JsonObject],
    ) -> None:
        """Replace the running cell's outputs from position ``index`` on."""
        ...

    def run_ended(
        self, path: str, cell_id: CellId, run_id: RunId, execution_count: int | None
    ) -> None:
        """Show the cell as finished."""
        ...

    def run_taken(self, run_id: RunId) -> bool:
        """Return whether the user runs the cell since: its outputs are not this run's any more."""
        ...

    def run_asks(self, path: str, cell_id: CellId, run_id: RunId, question: RunQuestion) -> None:
        """Show a field for what the running code asks; said again to a page that comes."""
        ...

    def run_answered(self, path: str, cell_id: CellId, run_id: RunId, number: int) -> None:
        """Take the field away."""
        ...


@dataclass(frozen=True, slots=True)
class KernelHandle:
    """A running kernel and how to talk to it."""

    kernel_id: str
    kernel_name: str
    language: str
    manager: Any
    """The jupyter_client (Multi)KernelManager's AsyncKernelManager for this kernel."""
    client: Callable[[], AsyncKernelClient]
    """Make a client of its own identity (own ``Session``), channels not started."""
    channels: Callable[[], KernelChannels] | None = None
    """Make another way to the kernel than ZeroMQ sockets, for one whose sockets are elsewhere."""


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """An installed kernel, as a notebook's metadata names it."""

    name: str
    display_name: str
    language: str


class KernelSpecs(Protocol):
    """The kernels that are installed."""

    async def spec(self, name: str | None) -> KernelSpec:
        """Return one of them; None asks for the default. Raises ``NotFound`` (``no_kernel``)."""
        ...


@dataclass(frozen=True, slots=True)
class RunningKernel:
    """A kernel that runs; ``path`` is its notebook's, None when it is no notebook's."""

    kernel_id: str
    kernel_name: str
    language: str
    path: str | None
    state: str | None
    """As Jupyter names it: starting, idle, busy, restarting, dead; None where nobody listens."""
    last_activity: datetime | None


class KernelDirectory(KernelSpecs, Protocol):
    """The kernels of the Jupyter server, by notebook."""

    async def running(self) -> Sequence[RunningKernel]:
        """Return all kernels that run."""
        ...

    async def installed(self) -> Sequence[KernelSpec]:
        """Return the kernels that could be started."""
        ...

    async def find(self, path: str) -> KernelHandle | None:
        """Return the kernel of the notebook's Jupyter session."""
        ...

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        """Start a session for the notebook. Raises ``NotFound`` (no such kernelspec)."""
        ...

    async def interrupt(self, kernel_id: str) -> None:
        """Interrupt the kernel.

        Raises ``NotFound`` when it is gone, ``Conflict`` when it cannot be reached now.
        """
        ...

    async def restart(self, kernel_id: str) -> None:
        """Start the kernel's process anew; its id stays, what it held is gone.

        Raises ``NotFound`` when it is gone, ``Conflict`` when it does not come back.
        """
        ...

    def throwaway(
        self, path: str, kernel_name: str | None
    ) -> AbstractAsyncContextManager[KernelHandle]:
        """Start a kernel of nobody's, in the notebook's folder; it ends with the context.

        It is no notebook's kernel (``find`` does not know it), and it ends also when the start
        or the body is cancelled. Raises ``NotFound`` (no such kernelspec), ``Conflict``.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunProgress:
    """What a running cell printed, as text for the conversation; bounded and coalesced."""

    channel: Literal["stdout", "stderr", "output", "status"]
    text: str


@dataclass(frozen=True, slots=True)
class InputRecipient:
    """The call for which a cell runs; its conversation is where questions of the code go."""

    session_id: SessionId
    call_id: CallId
    interactive: bool
    """Whether somebody may be there to answer."""


@dataclass(frozen=True, slots=True)
class RunInput:
    """The running code asks the user for a line of text."""

    prompt: str
    password: bool


@dataclass(frozen=True, slots=True)
class RunInputEnd:
    """The question was answered, or nobody waits for the answer any more."""

    answered: bool


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run is on its way; ``look`` returns how far it is, with the status ``running``."""

    look: Callable[[], CellRun]


@dataclass(frozen=True, slots=True)
class CellRun:
    """How a run ended; ``outputs`` are nbformat dicts as they stand in the notebook."""

    status: Literal["ok", "error", "aborted", "died", "cancelled", "running"]
    """``running`` of one that was looked at on its way, and of no other."""
    outputs: tuple[JsonObject, ...]
    execution_count: int | None
    duration_ms: int
    kernel_id: str
    failure: str | None = None
    """The error in one line ("NameError: name 'x' is not defined")."""
    warning: str | None = None
    """What else the user must know: outputs that could not be stored, text left out."""


RunItem = RunProgress | RunStarted | RunInput | RunInputEnd | CellRun


class CellRunner(Protocol):
    """Runs cells of notebooks in their own kernels, one run at a time in each kernel."""

    def run(
        self, path: str, cell_id: CellId, asker: InputRecipient | None = None
    ) -> AsyncGenerator[RunItem]:
        """Run the cell as the notebook has it now; end with exactly one ``CellRun``.

        The outputs are in the notebook and in its pages when the ``CellRun`` comes. Cancelling
        interrupts the kernel if it is busy with this run, and settles before it leaves. Raises
        ``NotFound`` (notebook, cell, kernelspec), ``InvalidRequest`` (not a code cell),
        ``InvalidNotebook``, ``Conflict`` (page not responding, kernel does not answer).
        """
        ...

    async def kernel_of(self, path: str) -> str | None:
        """Return the id of the notebook's kernel, None while it has none."""
        ...
