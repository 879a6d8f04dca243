"""Caches the workspace's instructions and skills, which are part of every request.

Files are read in a thread and cached until one of their sources changes: most turns cost a few
``lstat`` calls and no thread. Used by ``host.context.environment``. Untrusted files of the folder
are kept apart, and declined ones are left out.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_ai_shoulders.core.errors import NotFound, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.folder_trust import (
    Answer,
    FolderItem,
    FolderTrust,
    TrustedFolder,
    item_digest,
)
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.engine.environment.instructions import (
    INSTRUCTIONS_FILE,
    OTHER_FILES,
    SYSTEM_FILE,
)
from jupyter_ai_shoulders.engine.environment.skills import (
    FOLDERS,
    MANIFEST,
    MOST_SKILLS,
    SHIPPED_PATH,
    Skill,
    SkillList,
    SkillText,
    parse_skill,
    read_manifest,
    shipped_skill,
    shipped_text,
    unique_skills,
)
from jupyter_ai_shoulders.engine.environment.snapshot import InstructionSet, SourceText
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath

TEXT_LIMIT = 1_000_000
"""Bytes read of an instruction file; ``engine.environment.instructions`` shows far fewer."""
CACHE_SIZE = 50_000
"""Maximum characters of all cached files together; redacting more is work for a thread."""
SETTLED_NS = 2_000_000_000
"""Minimum age of a change for a later change to have another time (FAT has a resolution of two
seconds).
"""
SLOW_SECONDS = 0.005
"""A file system that took longer is checked in a thread the next time."""
_STATE = ".shoulders/"

Facts = tuple[tuple[int, int, int, int, int, int] | None, ...]
"""Mode, device, inode, size and the times of content and entry; None for a missing file."""


@dataclass(frozen=True, slots=True)
class InstructionSources:
    """The directories read; ``.shoulders/…`` means the state directory, wherever it is."""

    workspace: Workspace
    state_dir: Path
    environ: Mapping[str, str]
    trust: FolderTrust = field(default_factory=TrustedFolder)
    """The user's answers about files of the workspace."""
    state_trust: FolderTrust = field(default_factory=TrustedFolder)
    """The user's answers about files of the state directory, which may lie outside the workspace.
    """

    @property
    def answers(self) -> object:
        """Return a value that changes when an answer may have changed."""
        return (self.trust.revision, self.state_trust.revision)

    def answer(self, item: FolderItem) -> Answer | None:
        """Return the user's answer about a file."""
        trust = self.state_trust if item.file.startswith(_STATE) else self.trust
        return trust.answer(item.digest)


class InstructionCache:
    """The files as last read, with the facts that show whether they changed."""

    def __init__(self, sources: InstructionSources, redact: Callable[[str], str]) -> None:
        self._sources = sources
        self._redact = redact
        self._cache: _CachedInstructions | None = None
        self._slow = False

    async def value(self) -> InstructionSet:
        """Return the current instructions and skills."""
        known = None if self._slow else self._known()
        if known is not None:
            return known
        return await asyncio.to_thread(self._read)

    def _known(self) -> InstructionSet | None:
        """Return the cached value if reading again would give the same."""
        kept = self._cache
        if kept is None or kept.answers != self._sources.answers:
            return None
        if self._looked(kept.paths) != kept.facts:
            return None
        same = kept.standing.locale == locale_of(self._sources.environ) and all(
            self._redact(text) == clean for text, clean in kept.texts
        )
        return kept.standing if same else None

    def _looked(self, paths: Sequence[str]) -> Facts | None:
        began = time.perf_counter()
        facts = _facts(paths)
        self._slow = time.perf_counter() - began > SLOW_SECONDS
        return facts

    def _read(self) -> InstructionSet:
        """Read the files, and cache the result if a later change would be noticed."""
        now = time.time_ns()
        paths, answers = _watched(self._sources), self._sources.answers
        before = _facts(paths)
        texts: list[tuple[str, str]] = []

        def redact(text: str) -> str:
            texts.append((text, self._redact(text)))
            return texts[-1][1]

        standing = read_instruction_files(self._sources, redact)
        after = self._looked(paths)
        sure = (
            before is not None
            and before == after
            and _settled(before, now)
            and not standing.problems
            and sum(len(text) for text, _ in texts) <= CACHE_SIZE
        )
        self._cache = (
            _CachedInstructions(paths, before, answers, tuple(texts), standing)
            if sure and before
            else None
        )
        return standing


@dataclass(frozen=True, slots=True)
class _CachedInstructions:
    paths: Sequence[str]
    facts: Facts
    answers: object
    texts: tuple[tuple[str, str], ...]
    """Each file's text, raw and redacted with the keys known then: more may be known by now."""
    standing: InstructionSet


def _watched(sources: InstructionSources) -> Sequence[str]:
    """Return every file and folder that is read, with the folders on the way."""
    names = [SYSTEM_FILE, INSTRUCTIONS_FILE, *OTHER_FILES, MANIFEST, *FOLDERS]
    for folder in FOLDERS:
        names += (f"{folder}/{name}/SKILL.md" for name in _folders(sources, folder))
    watched: dict[str, None] = {}
    for name in names:
        inside = name.startswith(_STATE)
        place = sources.state_dir if inside else sources.workspace.directory
        for part in (name.removeprefix(_STATE) if inside else name).split("/"):
            place /= part
            watched[str(place)] = None
    return tuple(watched)


def _facts(paths: Iterable[str]) -> Facts | None:
    """Return the facts of each path, of links themselves; None if one cannot be read."""
    found: list[tuple[int, int, int, int, int, int] | None] = []
    for path in paths:
        try:
            is_ = os.lstat(path)
        except (FileNotFoundError, NotADirectoryError):
            found.append(None)
        except OSError:
            return None
        else:
            times = (is_.st_mtime_ns, is_.st_ctime_ns)
            found.append((is_.st_mode, is_.st_dev, is_.st_ino, is_.st_size, *times))
    return tuple(found)


def _settled(facts: Facts, now: int) -> bool:
    """Return whether any later change would be noticed: no links, and no very recent change."""
    return all(
        fact is None or (not stat.S_ISLNK(fact[0]) and max(fact[4], fact[5]) < now - SETTLED_NS)
        for fact in facts
    )


def read_instruction_files(
    sources: InstructionSources, redact: Callable[[str], str]
) -> InstructionSet:
    """Return the instructions and skills on the disk, redacted."""
    found = _SkillFile.read(sources)
    answers = {item.file: sources.answer(item) for item in found.items()}
    texts = [
        SourceText(text.source, redact(text.text))
        for text in found.texts
        if answers[text.source] != "declined"
    ]
    trusted = {text.source: text for text in texts if answers[text.source] == "trusted"}
    skills = (
        replace(skill, reviewed=answers[skill.path] == "trusted")
        for skill in found.skills
        if answers[skill.path] != "declined"
    )
    return InstructionSet(
        system=trusted.pop(SYSTEM_FILE, None),
        instructions=tuple(trusted.values()),
        unreviewed=tuple(text for text in texts if answers[text.source] is None),
        skills=unique_skills(
            replace(skill, description=redact(skill.description))
            for skill in (*skills, shipped_skill())
        ),
        locale=locale_of(sources.environ),
        problems=tuple(found.problems),
    )


def instruction_items(sources: InstructionSources) -> tuple[FolderItem, ...]:
    """Return the instructions and skills that need the user's trust. It blocks: call it in a
    thread.
    """
    return tuple(_SkillFile.read(sources).items())


@dataclass(frozen=True, slots=True)
class _SkillFile:
    """Instruction and skill files as read, not redacted."""

    texts: tuple[SourceText, ...]
    skills: tuple[Skill, ...]
    skill_texts: Mapping[str, str]
    """Text of each skill, by path."""
    problems: list[str]

    @staticmethod
    def read(places: InstructionSources) -> _SkillFile:
        problems: list[str] = []

        def read(path: str) -> SourceText | None:
            try:
                return SourceText(path, read_text(places, path))
            except NotFound:
                return None
            except ShouldersError as error:
                problems.append(f"{path} is not used: {error.info.message}")
                return None

        other = next((text for path in OTHER_FILES if (text := read(path)) is not None), None)
        texts = (read(SYSTEM_FILE), read(INSTRUCTIONS_FILE), other)
        manifest = read(MANIFEST)
        listed = read_manifest(manifest.text) if manifest else SkillList()
        skills = unique_skills((*listed.skills, *_skill_files(places, read)))
        skill_texts = {
            skill.path: text.text for skill in skills if (text := read(skill.path)) is not None
        }
        return _SkillFile(
            tuple(text for text in texts if text is not None),
            skills,
            skill_texts,
            [*listed.problems, *dict.fromkeys(problems)],
        )

    def items(self) -> Iterator[FolderItem]:
        """Yield each file and skill as an item for the trust review."""
        for text in self.texts:
            digest = item_digest("instructions", text.source, text.text)
            yield FolderItem("instructions", text.source, text.source, text.text, digest)
        for skill in self.skills:
            yield _skill_item(skill, self.skill_texts.get(skill.path, ""))


def _skill_item(skill: Skill, text: str) -> FolderItem:
    digest = item_digest("skill", skill.name, [skill.description, skill.path, text])
    return FolderItem("skill", skill.name, skill.path, text or skill.description, digest)


def read_skill(sources: InstructionSources, skill: Skill) -> SkillText:
    """Return the current text of a skill; a changed one is no longer reviewed.

    Raises as ``read_text`` does.
    """
    if skill.path == SHIPPED_PATH:
        return SkillText(shipped_text())
    text = read_text(sources, skill.path)
    answer = sources.answer(_skill_item(skill, text))
    return SkillText(text, reviewed=answer == "trusted")


def read_text(sources: InstructionSources, path: str) -> str:
    """Return the text of an instruction file.

    Raises ``NotFound``, ``InvalidRequest`` (outside, not a file), ``PolicyRefusal``.
    """
    if not path.startswith(_STATE):
        return _text(sources.workspace, path, "")
    if not sources.state_dir.is_dir():
        raise NotFound(f"There is no file {path}.")
    with closing(Workspace(sources.state_dir)) as state:
        return _text(state, path.removeprefix(_STATE), _STATE)


def locale_of(environ: Mapping[str, str]) -> str:
    """Return the locale the server was started with, such as ``de_DE``; empty for none."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        value = environ.get(name, "").partition(".")[0].partition("@")[0]
        if value:
            return "" if value in {"C", "POSIX"} or len(value) > 20 else value
    return ""


def _text(root: Workspace, path: str, above: str) -> str:
    """Return a file's text, unless the file or its link target usually holds secrets."""
    real = root.path(path)
    if is_secret(f"{above}{real}"):
        raise PolicyRefusal(f"{above}{real} usually holds secrets, so its content is never sent.")
    return root.head(real, TEXT_LIMIT).content.decode("utf-8", "replace")


def _skill_files(
    sources: InstructionSources, read: Callable[[str], SourceText | None]
) -> Iterator[Skill]:
    for folder in FOLDERS:
        for name in _folders(sources, folder):
            place = f"{folder}/{name}"
            text = read(f"{place}/SKILL.md")
            skill = parse_skill(place, text.text) if text else None
            if skill is not None:
                yield skill


def _folders(sources: InstructionSources, folder: str) -> list[str]:
    """Return the names of a folder's first subfolders; links are not followed."""
    if not folder.startswith(_STATE):
        return _folders_in(sources.workspace, folder)
    if not sources.state_dir.is_dir():
        return []
    with closing(Workspace(sources.state_dir)) as state:
        return _folders_in(state, folder.removeprefix(_STATE))


def _folders_in(root: Workspace, folder: str) -> list[str]:
    found: list[str] = []
    with contextlib.suppress(ShouldersError):  # most workspaces have none
        for name in root.names(WorkspacePath(folder)):
            with contextlib.suppress(ShouldersError):  # deleted at this moment
                if root.kind(WorkspacePath(f"{folder}/{name}")) == "folder":
                    found.append(name)
    return sorted(found)[:MOST_SKILLS]
