"""The environment of a conversation, read from the workspace: the engine's ``Environment``.

Made by ``host.build``. Everything that touches a file or starts a program runs in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.core.injection_safe_names import is_injection_safe_name
from jupyter_ai_shoulders.engine.environment.attachments import AttachmentContent
from jupyter_ai_shoulders.engine.environment.skills import Skill, SkillText
from jupyter_ai_shoulders.engine.environment.snapshot import (
    InstructionSet,
    MemorySnapshot,
    WorkspaceFact,
    WorkspaceSituation,
)
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.git.safe_git import GitState, git_state
from jupyter_ai_shoulders.guard.search.file_tree import file_tree
from jupyter_ai_shoulders.host.context.attachment_content import AttachmentReader
from jupyter_ai_shoulders.host.context.cached_value import CachedValue
from jupyter_ai_shoulders.host.context.instruction_cache import (
    InstructionCache,
    InstructionSources,
    read_skill,
)
from jupyter_ai_shoulders.host.memory.service import MemoryService
from jupyter_ai_shoulders.host.threads.anchor_context import AnchorContext
from jupyter_ai_shoulders.notebook.base import KernelDirectory, KernelHandle
from jupyter_ai_shoulders.notebook.kernels.variable_info import VariableSnapshot, short_text
from jupyter_ai_shoulders.notebook.kernels.variables import CachedVariables
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.notebooks import CellMark
from jupyter_ai_shoulders.wire.sessions import Session

TREE_ENTRIES = 60
TREE_DEPTH = 3
STALE_LISTED = 8

LatestMarks = Callable[[str], Sequence[tuple[int, CellId, CellMark]]]
"""Returns the last known stale cells of a notebook, by number; never waits."""
VARIABLES_LIMIT = 2_000
"""Characters of the variables' schema."""
REFRESH_SECONDS = 2.0
"""Delay after a message before the kernel is asked for the next schema, so that the model's first
words come first.
"""

MANIFESTS: Mapping[str, str] = {
    "pyproject.toml": "Python",
    "setup.py": "Python",
    "requirements.txt": "Python",
    "environment.yml": "Python",
    "Pipfile": "Python",
    "DESCRIPTION": "R",
    "renv.lock": "R",
    "Project.toml": "Julia",
    "package.json": "Node",
    "Cargo.toml": "Rust",
    "go.mod": "Go",
    "_quarto.yml": "Quarto",
    "dvc.yaml": "DVC",
    "Snakefile": "Snakemake",
    "Makefile": "make",
    "Dockerfile": "Docker",
}
"""Kinds of projects, by the files at their root."""

_log = logging.getLogger(__name__)


class WorkspaceEnvironment:
    """Instructions, skills, git, files and kernels of one workspace."""

    def __init__(
        self,
        sources: InstructionSources,
        kernels: KernelDirectory,
        attachments: AttachmentReader,
        redact: Callable[[str], str],
        clock: Clock,
        *,
        variables: CachedVariables | None = None,
        stale: LatestMarks | None = None,
        threads: AnchorContext | None = None,
        memory: MemoryService | None = None,
    ) -> None:
        self._memory = memory
        self._sources = sources
        self._git = CachedValue(lambda: git_state(sources.workspace.directory), clock)
        self._files = CachedValue(lambda: project_facts(sources.workspace), clock)
        self._standing = InstructionCache(sources, redact)
        self._kernels = kernels
        self._attachments = attachments
        self._redact = redact
        self._variables = variables
        self._stale = stale
        self._threads = threads

    async def load_instructions(self) -> InstructionSet:
        """See ``Environment.load_instructions``."""
        return await self._standing.value()

    async def situation(self, context: MessageContext) -> WorkspaceSituation:
        """See ``Environment.situation``."""
        kernel = self._kernel(context.active_document)
        if self._git.is_good and self._files.is_good:  # else three tasks would cost more
            handle, git, files = await kernel, await self._git.value(), await self._files.value()
        else:
            values = (kernel, self._git.value(), self._files.value())
            handle, git, files = await asyncio.gather(*values)
        facts = [
            *self._kernel_facts(handle, context.active_document),
            *self._stale_facts(context.active_document),
            *_git_facts(git),
            *files,
        ]
        return WorkspaceSituation(
            tuple(replace(fact, text=self._redact(fact.text)) for fact in facts),
            handle.language.lower() if handle else None,
        )

    async def place(self, session: Session) -> tuple[WorkspaceFact, ...]:
        """See ``Environment.place``."""
        facts = await self._threads.facts(session) if self._threads is not None else ()
        return tuple(replace(fact, text=self._redact(fact.text)) for fact in facts)

    async def capture(
        self, attachment: Attachment, session: Session, *, images: bool
    ) -> AttachmentContent | None:
        """See ``Environment.capture``."""
        return await self._attachments.capture(attachment, session, images=images)

    async def memory(self, session: Session) -> MemorySnapshot:
        """See ``Environment.memory``."""
        if self._memory is None:
            return MemorySnapshot()
        return await self._memory.snapshot(session.owner)

    async def skill(self, skill: Skill) -> SkillText | None:
        """See ``Environment.skill``."""
        found = await asyncio.to_thread(read_skill, self._sources, skill)
        return replace(found, text=self._redact(found.text))

    async def aclose(self) -> None:
        """Wait for what runs in threads."""
        await self._git.aclose()
        await self._files.aclose()

    def _kernel_facts(self, handle: KernelHandle | None, path: str | None) -> list[WorkspaceFact]:
        """Return the kernel's state and its last known variables; request new ones for the next
        message.
        """
        if handle is None:
            return []
        look = None
        if self._variables is not None:
            look = self._variables.last_of(handle)
            self._variables.refresh_soon(handle, REFRESH_SECONDS)
        return [kernel_fact(handle, look), *variable_facts(look, path)]

    def _stale_facts(self, path: str | None) -> list[WorkspaceFact]:
        """Return the last known stale cells, as pages that have the notebook open showed them."""
        found = self._stale(path) if self._stale is not None and path is not None else ()
        if not found:
            return []
        told = [f"cell {number} {mark.reason}" for number, _, mark in found[:STALE_LISTED]]
        more = [f"and {len(found) - STALE_LISTED} more"] if len(found) > STALE_LISTED else []
        text = "; ".join([*told, *more])
        return [WorkspaceFact("stale cells of the active document", text, path=path)]

    async def _kernel(self, path: str | None) -> KernelHandle | None:
        if path is None or not path.endswith(".ipynb"):
            return None
        try:
            return await self._kernels.find(path)
        except ShouldersError as error:
            _log.info("The kernel of %s is not known: %s", path, error)
            return None


# facts


def project_facts(workspace: Workspace) -> list[WorkspaceFact]:
    """Return the kind of project, and its files."""
    files = file_tree(workspace, limit=TREE_ENTRIES, depth=TREE_DEPTH)
    kinds: dict[str, list[str]] = {}
    for path in files.paths:
        if path in MANIFESTS:
            kinds.setdefault(MANIFESTS[path], []).append(path)
        elif path.endswith(".Rproj"):
            kinds.setdefault("R", []).append(".Rproj")
    project = ", ".join(f"{kind} ({', '.join(names)})" for kind, names in kinds.items())
    listed = list(filter(is_injection_safe_name, files.paths))
    if not files.complete or len(listed) < len(files.paths):
        listed.append("… and more")
    return [
        WorkspaceFact("project", project),
        WorkspaceFact("files of the workspace", "\n".join(listed), is_data=True),
    ]


def _git_facts(git: GitState | None) -> list[WorkspaceFact]:
    """Return that there is a repository; its branch, subjects and diffs are untrusted text."""
    if git is None:
        return []
    changed = git.changed_files
    count = "" if changed is None else f"; changed files since the last commit: {changed}"
    return [WorkspaceFact("git", f"a repository{count}")]


def kernel_fact(handle: KernelHandle, look: VariableSnapshot | None) -> WorkspaceFact:
    """Return the kernel's kind, whether it is busy, and how old the known variables are."""
    state = getattr(handle.manager, "execution_state", None)
    known = [handle.kernel_name, handle.language, state if isinstance(state, str) else ""]
    if look is not None:
        known.append(f"variables known from {age_text(look.age_s)}")
    return WorkspaceFact("kernel of the active document", ", ".join(filter(None, known)))


def variable_facts(look: VariableSnapshot | None, path: str | None) -> list[WorkspaceFact]:
    """Return the variables' schema, whose names come from the user's data."""
    if look is None:
        return []
    text = short_text(look.namespace, VARIABLES_LIMIT)
    if not text:
        return [WorkspaceFact("variables of the kernel", "none", is_data=True)]
    return [WorkspaceFact("variables of the kernel", text, is_data=True, path=path)]


def age_text(seconds: float) -> str:
    """Return how long ago something was, in words."""
    if seconds < 60:
        return "just now" if seconds < 10 else f"{seconds:.0f} s ago"
    return f"{seconds / 60:.0f} min ago" if seconds < 5400 else f"{seconds / 3600:.0f} h ago"
