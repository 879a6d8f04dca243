"""The ports of notebooks, kernels and runs.

Tools use ``Notebook`` and ``CellRunner`` only; the back end knows whether a notebook is on disk, in
a page with unsaved edits or in a collaboration room.
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
    """A notebook at one moment; ``outputs`` of a cell are None unless they were requested."""

    path: str
    backend: Backend
    cells: Sequence[NotebookCell]
    """May be converted on access: iterate over all of them only when all are needed."""
    metadata: JsonObject
    dirty: bool

    def cell(self, cell_id: CellId) -> NotebookCell | None:
        """Return the cell with this id."""
        position = self.position(cell_id)
        return None if position is None else self.cells[position]

    def position(self, cell_id: CellId) -> int | None:
        """Return the cell's index."""
        return next((i for i, cell in enumerate(self.cells) if cell.id == cell_id), None)


@dataclass(frozen=True, slots=True)
class Applied:
    """The edits were applied; ``inverse`` undoes them."""

    versions: Mapping[CellId, Version]
    inverse: tuple[CellEdit, ...]


@dataclass(frozen=True, slots=True)
class Conflicted:
    """Nothing was changed: these cells do not have the expected version."""

    conflicts: tuple[CellConflict, ...]


class Notebook(Protocol):
    """One notebook, in any back end."""

    @property
    def path(self) -> str:
        """Return the workspace-relative path."""
        ...

    @property
    def backend(self) -> Backend:
        """Return its current back end."""
        ...

    async def read(self, outputs: Collection[CellId] | Literal["all"] = ()) -> NotebookSnapshot:
        """Return the notebook now, with the outputs of the named cells.

        Raises ``NotFound``, ``InvalidNotebook``, ``Conflict`` (page not responding).
        """
        ...

    async def apply(
        self, edits: Sequence[CellEdit], expected: Mapping[CellId, Version]
    ) -> Applied | Conflicted:
        """Apply all edits as one undo step, or none.

        ``expected`` gives the version each changed cell must have; a cell with another version is
        never overwritten. Raises like ``read``.
        """
        ...


class Notebooks(Protocol):
    """Finds a notebook's current back end."""

    def open(self, path: str) -> Notebook:
        """Return the notebook at a workspace-relative path.

        Raises ``NotFound``, ``InvalidRequest``.
        """
        ...

    def in_page(self, path: str) -> bool:
        """Return whether a page has the notebook open, so that an edit can be reviewed there."""
        ...


class NewNotebooks(Protocol):
    """Creates notebooks."""

    async def create(self, path: str, content: JsonObject) -> WorkspacePath:
        """Create a notebook of format 4; return its path. Its folder must exist.

        Raises ``Conflict`` when the path is taken, ``NotFound`` (folder), ``InvalidRequest``.
        """
        ...


class NotebookStore(Protocol):
    """Notebooks that are read and changed without asking a page: files, or the rooms that write
    them.
    """

    def check(self, path: WorkspacePath) -> None:
        """Raise ``NotFound`` when the notebook is known not to exist."""
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
    """A question of running code for pages; ``number`` counts a run's questions from 1."""

    number: int
    prompt: str
    password: bool
    answer: Callable[[str], bool]
    """Passes on the user's input; false when it was answered already."""


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
        """Return whether the user runs the cell now: its outputs are no longer this run's."""
        ...

    def run_asks(self, path: str, cell_id: CellId, run_id: RunId, question: RunQuestion) -> None:
        """Show an input field for the running code; repeated for a page that connects later."""
        ...

    def run_answered(self, path: str, cell_id: CellId, run_id: RunId, number: int) -> None:
        """Remove the input field."""
        ...


@dataclass(frozen=True, slots=True)
class KernelHandle:
    """A running kernel and how to connect to it."""

    kernel_id: str
    kernel_name: str
    language: str
    manager: Any
    """The kernel's AsyncKernelManager, from jupyter_client's (Multi)KernelManager."""
    client: Callable[[], AsyncKernelClient]
    """Return a new client with its own ``Session``, channels not started."""
    channels: Callable[[], KernelChannels] | None = None
    """Return other channels than ZeroMQ sockets, for a kernel whose sockets are remote."""


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """An installed kernel, as a notebook's metadata names it."""

    name: str
    display_name: str
    language: str


class KernelSpecs(Protocol):
    """The kernels that are installed."""

    async def spec(self, name: str | None) -> KernelSpec:
        """Return an installed kernel; None asks for the default. Raises ``NotFound``
        (``no_kernel``).
        """
        ...


@dataclass(frozen=True, slots=True)
class RunningKernel:
    """A running kernel; ``path`` is its notebook's, None when it has none."""

    kernel_id: str
    kernel_name: str
    language: str
    path: str | None
    state: str | None
    """As Jupyter names it: starting, idle, busy, restarting, dead; None when it is not observed."""
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

        Raises ``NotFound`` when it no longer exists, ``Conflict`` when it cannot be reached now.
        """
        ...

    async def restart(self, kernel_id: str) -> None:
        """Restart the kernel's process; its id stays, its variables are lost.

        Raises ``NotFound`` when it no longer exists, ``Conflict`` when it does not come back.
        """
        ...

    def throwaway(
        self, path: str, kernel_name: str | None
    ) -> AbstractAsyncContextManager[KernelHandle]:
        """Start a private kernel in the notebook's folder; it ends with the context.

        ``find`` does not return it, and it ends also when the start or the body is cancelled.
        Raises ``NotFound`` (no such kernelspec), ``Conflict``.
        """
        ...


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Output of a running cell, as text for the conversation; bounded and coalesced."""

    channel: Literal["stdout", "stderr", "output", "status"]
    text: str


@dataclass(frozen=True, slots=True)
class InputRecipient:
    """The call that runs a cell; its conversation receives the code's questions."""

    session_id: SessionId
    call_id: CallId
    interactive: bool
    """Whether a user may be there to answer."""


@dataclass(frozen=True, slots=True)
class RunInput:
    """The running code asks the user for a line of text."""

    prompt: str
    password: bool


@dataclass(frozen=True, slots=True)
class RunInputEnd:
    """The question was answered, or no longer needs an answer."""

    answered: bool


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The run has started; ``look`` returns its progress, with the status ``running``."""

    look: Callable[[], CellRun]


@dataclass(frozen=True, slots=True)
class CellRun:
    """The result of a run; ``outputs`` are nbformat dicts as stored in the notebook."""

    status: Literal["ok", "error", "aborted", "died", "cancelled", "running"]
    """``running`` only for a result that was read before the end."""
    outputs: tuple[JsonObject, ...]
    execution_count: int | None
    duration_ms: int
    kernel_id: str
    failure: str | None = None
    """The error in one line ("NameError: name 'x' is not defined")."""
    warning: str | None = None
    """A message for the user: outputs that could not be stored, text left out."""


RunItem = RunProgress | RunStarted | RunInput | RunInputEnd | CellRun


class CellRunner(Protocol):
    """Runs cells of notebooks in their own kernels, one run at a time in each kernel."""

    def run(
        self, path: str, cell_id: CellId, asker: InputRecipient | None = None
    ) -> AsyncGenerator[RunItem]:
        """Run the cell in its current state; end with exactly one ``CellRun``.

        The outputs are in the notebook and in its pages before the ``CellRun``. Cancelling
        interrupts the kernel if it is busy with this run, and waits for the result. Raises
        ``NotFound`` (notebook, cell, kernelspec), ``InvalidRequest`` (not a code cell),
        ``InvalidNotebook``, ``Conflict`` (page not responding, kernel does not answer).
        """
        ...

    async def kernel_of(self, path: str) -> str | None:
        """Return the id of the notebook's kernel, None while it has none."""
        ...
