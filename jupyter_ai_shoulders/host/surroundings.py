"""What is around a conversation, read from the workspace: the engine's ``Surroundings``.

Made by ``host.build``. Everything that touches a file or starts a program runs in a thread.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import NotFound, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.secret_files import is_secret
from jupyter_ai_shoulders.engine.attachments import Captured
from jupyter_ai_shoulders.engine.instructions import INSTRUCTIONS_FILE, OTHER_FILES, SYSTEM_FILE
from jupyter_ai_shoulders.engine.skills import (
    FOLDERS,
    MANIFEST,
    MOST_SKILLS,
    SHIPPED_PATH,
    Skill,
    SkillList,
    found_skill,
    read_manifest,
    shipped_skill,
    shipped_text,
    unique,
)
from jupyter_ai_shoulders.engine.surroundings import Fact, Situation, SourceText, Standing
from jupyter_ai_shoulders.guard.git import GitState, git_state
from jupyter_ai_shoulders.guard.listing import tree
from jupyter_ai_shoulders.guard.paths import Workspace
from jupyter_ai_shoulders.host.captures import Captures
from jupyter_ai_shoulders.host.latest import Latest
from jupyter_ai_shoulders.notebook.base import KernelDirectory, KernelHandle
from jupyter_ai_shoulders.wire.messages import Attachment, MessageContext
from jupyter_ai_shoulders.wire.sessions import Session

TEXT_LIMIT = 1_000_000
"""Bytes read of a file of instructions; ``engine.instructions`` shows far fewer."""
TREE_ENTRIES = 60
TREE_DEPTH = 3
_STATE = ".shoulders/"

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
"""What a project is, by the files at its root."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Places:
    """The directories read; ``.shoulders/…`` means the state directory, wherever it is."""

    workspace: Workspace
    state_dir: Path
    environ: Mapping[str, str]


class WorkspaceSurroundings:
    """Instructions, skills, git, files and kernels of one workspace."""

    def __init__(
        self,
        places: Places,
        kernels: KernelDirectory,
        captures: Captures,
        redact: Callable[[str], str],
        clock: Clock,
    ) -> None:
        self._places = places
        self._git = Latest(lambda: git_state(places.workspace.directory), clock)
        self._files = Latest(lambda: project_facts(places.workspace), clock)
        self._kernels = kernels
        self._captures = captures
        self._redact = redact

    async def standing(self) -> Standing:
        """See ``Surroundings.standing``."""
        return await asyncio.to_thread(read_standing, self._places, self._redact)

    async def situation(self, context: MessageContext) -> Situation:
        """See ``Surroundings.situation``."""
        handle, git, files = await asyncio.gather(
            self._kernel(context.active_document),
            self._git.value(),
            self._files.value(),
        )
        facts = [*_kernel_facts(handle), *_git_facts(git), *files]
        return Situation(
            tuple(Fact(fact.name, self._redact(fact.text), fact.is_data) for fact in facts),
            handle.language.lower() if handle else None,
        )

    async def capture(
        self, attachment: Attachment, session: Session, *, images: bool
    ) -> Captured | None:
        """See ``Surroundings.capture``."""
        return await self._captures.capture(attachment, session, images=images)

    async def skill(self, skill: Skill) -> str | None:
        """See ``Surroundings.skill``."""
        if skill.path == SHIPPED_PATH:
            return await asyncio.to_thread(shipped_text)
        return self._redact(await asyncio.to_thread(read_text, self._places, skill.path))

    async def aclose(self) -> None:
        """Wait for what runs in threads."""
        await self._git.aclose()
        await self._files.aclose()

    async def _kernel(self, path: str | None) -> KernelHandle | None:
        if path is None or not path.endswith(".ipynb"):
            return None
        try:
            return await self._kernels.find(path)
        except ShouldersError as error:
            _log.info("The kernel of %s is not known: %s", path, error)
            return None


# files of the user's


def read_standing(places: Places, redact: Callable[[str], str]) -> Standing:
    """Return instructions and skills as they are on the disk, without keys."""
    problems: list[str] = []

    def read(path: str) -> SourceText | None:
        try:
            return SourceText(path, redact(read_text(places, path)))
        except NotFound:
            return None
        except ShouldersError as error:
            problems.append(f"{path} is not used: {error.info.message}")
            return None

    system = read(SYSTEM_FILE)
    own = read(INSTRUCTIONS_FILE)
    other = next((text for path in OTHER_FILES if (text := read(path)) is not None), None)
    manifest = read(MANIFEST)
    listed = read_manifest(manifest.text) if manifest else SkillList()
    skills = (*listed.skills, *_found_skills(places, read), shipped_skill())
    return Standing(
        system=system,
        instructions=tuple(item for item in (own, other) if item is not None),
        skills=unique(skills),
        locale=locale_of(places.environ),
        problems=(*listed.problems, *problems),
    )


def read_text(places: Places, path: str) -> str:
    """Return the text of a file of instructions.

    Raises ``NotFound``, ``InvalidRequest`` (outside, not a file), ``PolicyRefusal``.
    """
    if not path.startswith(_STATE):
        return _text(places.workspace, path, "")
    if not places.state_dir.is_dir():
        raise NotFound(f"There is no file {path}.")
    with closing(Workspace(places.state_dir)) as state:
        return _text(state, path.removeprefix(_STATE), _STATE)


def locale_of(environ: Mapping[str, str]) -> str:
    """Return the locale the server was started with, such as ``de_DE``; empty for none."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = environ.get(name, "").partition(".")[0].partition("@")[0]
        if value:
            return "" if value in {"C", "POSIX"} or len(value) > 20 else value
    return ""


def _text(root: Workspace, path: str, above: str) -> str:
    """Return a file's text, unless the file it is, or links to, usually holds secrets."""
    real = root.path(path)
    if is_secret(f"{above}{real}"):
        raise PolicyRefusal(f"{above}{real} usually holds secrets, so its content is never sent.")
    return root.head(real, TEXT_LIMIT).content.decode("utf-8", "replace")


def _found_skills(places: Places, read: Callable[[str], SourceText | None]) -> Iterator[Skill]:
    for folder in FOLDERS:
        for name in _folders(places, folder):
            place = f"{folder}/{name}"
            text = read(f"{place}/SKILL.md")
            skill = found_skill(place, text.text) if text else None
            if skill is not None:
                yield skill


def _folders(places: Places, folder: str) -> list[str]:
    """Return the names of the first folders in one; links are not followed."""
    inside = folder.startswith(_STATE)
    root = places.state_dir if inside else places.workspace.directory
    try:
        entries = list((root / folder.removeprefix(_STATE)).iterdir())
    except OSError:
        return []  # most workspaces have none
    names = (entry.name for entry in entries if entry.is_dir() and not entry.is_symlink())
    return sorted(names)[:MOST_SKILLS]


# facts


def project_facts(workspace: Workspace) -> list[Fact]:
    """Return what the project is, and its files."""
    files = tree(workspace, limit=TREE_ENTRIES, depth=TREE_DEPTH)
    kinds: dict[str, list[str]] = {}
    for path in files.paths:
        kind = MANIFESTS.get(path) or ("R" if path.endswith(".Rproj") else None)
        if kind is not None:
            kinds.setdefault(kind, []).append(path)
    project = ", ".join(f"{kind} ({', '.join(names)})" for kind, names in kinds.items())
    listed = "\n".join(files.paths) if files.whole else "\n".join([*files.paths, "… and more"])
    return [Fact("project", project), Fact("files of the workspace", listed, is_data=True)]


def _git_facts(git: GitState | None) -> list[Fact]:
    if git is None:
        return []
    branch = Fact("git branch", git.branch)
    return [branch, Fact("git changes", f"{git.of}\n{git.changes}" if git.of else "", is_data=True)]


def _kernel_facts(handle: KernelHandle | None) -> list[Fact]:
    if handle is None:
        return []
    state = getattr(handle.manager, "execution_state", None)
    known = [handle.kernel_name, handle.language, state if isinstance(state, str) else ""]
    return [Fact("kernel of the active document", ", ".join(filter(None, known)))]
