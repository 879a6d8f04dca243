"""Decides which settings of the workspace apply: restricting ones, and those the user trusts.

``WorkspaceTrust`` holds the answers that the readers of each file need; it is made before them, in
``host.shared_services``. ``TrustReview`` lists the items of all files and takes answers; it is made
after them, in ``host.build``, and used by ``server.handlers.settings`` and the command line.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import (
    Conflict,
    PolicyRefusal,
    StateUnavailable,
)
from jupyter_ai_shoulders.core.folder_trust import (
    FolderItem,
    FolderTrust,
    TrustedFolder,
)
from jupyter_ai_shoulders.host.context.instruction_cache import (
    InstructionSources,
    instruction_items,
)
from jupyter_ai_shoulders.host.ports import FolderTrustSetting, HostSettings
from jupyter_ai_shoulders.storage.base import LoggedEvent
from jupyter_ai_shoulders.storage.trust_answers import TrustAnswers
from jupyter_ai_shoulders.wire.api.folder_trust import (
    FolderTrustView,
    PutTrust,
    TrustItem,
    TrustPolicy,
    TrustState,
)
from jupyter_ai_shoulders.wire.events import ToolResult

_log = logging.getLogger(__name__)


class WorkspaceTrust:
    """The answers about one workspace, and the administrator's policy."""

    def __init__(self, settings: HostSettings, home: Path, clock: Clock) -> None:
        """``home`` is ``~/.shoulders``."""
        root = Path(os.path.realpath(settings.workspace))
        self.policy: TrustPolicy = _policy(settings, root)
        self.answers = TrustAnswers(home, root, clock, own_only=self.policy == "forbidden")
        trusted = TrustedFolder()
        self.of_folder: FolderTrust = trusted if self.policy == "trusted" else self.answers
        """For files of the workspace."""
        inside = settings.state_dir.is_relative_to(settings.workspace)
        is_home = root == Path(os.path.realpath(settings.home))
        self.of_state: FolderTrust = trusted if is_home or not inside else self.of_folder
        """For files of the state directory; in a home directory, and outside of the workspace, they
        are the user's own.
        """


class TrustReview:
    """The settings that came with the workspace, for the user's review; ``aclose`` it."""

    def __init__(
        self,
        trust: WorkspaceTrust,
        instructions: InstructionSources,
        sources: Iterable[Callable[[], tuple[FolderItem, ...]]],
        writes: Callable[[str], bool],
    ) -> None:
        """``sources`` return the items of the settings files.

        ``writes`` returns whether a tool of this name writes files.
        """
        self._trust = trust
        self._instructions = instructions
        self._sources = tuple(sources)
        self._writes = writes
        self._seen: Mapping[str, str] | None = None
        """Digest of each instruction file when they were last listed."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._order = asyncio.Lock()
        """A saved file is recorded before it is listed."""

    async def view(self) -> FolderTrustView:
        """Return all items with their answers."""
        async with self._order:
            return await asyncio.to_thread(lambda: self._view(self._items()))

    async def answer(self, command: PutTrust) -> FolderTrustView:
        """Store answers.

        Raises ``PolicyRefusal`` (not the person's to decide), ``Conflict`` (an item was changed
        since it was listed), ``StateUnavailable``.
        """
        if self._trust.policy != "ask":
            raise PolicyRefusal(
                "Your administrator has decided about this folder.",
                hint="See Shoulders.folder_trust in Jupyter's configuration.",
            )
        async with self._order:
            return await asyncio.to_thread(self._answer, command)

    def _answer(self, command: PutTrust) -> FolderTrustView:
        items = {item.digest: item for item in self._items()}
        named = {*command.trust, *command.decline}
        if not named <= items.keys():
            raise Conflict(
                "The folder's settings have changed since they were listed. Nothing was saved.",
                code="stale",
                hint="Review them again.",
            )
        facts = {digest: item.facts for digest, item in items.items()}
        declined = _named(items[digest] for digest in command.decline)
        self._trust.answers.store(declined, "declined", facts)
        trusted = _named(items[digest] for digest in command.trust)
        self._trust.answers.store(trusted, "trusted", facts)
        return self._view(items.values())

    def on_event(self, logged: LoggedEvent) -> None:
        """Count instructions that a tool wrote with the user's approval as the user's."""
        event = logged.event
        if isinstance(event, ToolResult) and event.status == "ok" and self._writes(event.tool):
            for path in {seen.path for seen in event.seen}:
                task = asyncio.create_task(self.on_file_saved(path))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def on_file_saved(self, path: str) -> None:
        """Count an instruction file that the user saved as theirs.

        A file that came with the folder and was not trusted before stays untrusted.
        """
        async with self._order:
            if self._seen is not None:
                await asyncio.to_thread(self._saved, path, self._seen)

    def _saved(self, path: str, before: Mapping[str, str]) -> None:
        try:
            items = instruction_items(self._instructions)
            own = (
                item
                for item in items
                if item.file == path
                and (
                    item.file not in before
                    or self._trust.of_folder.answer(before[item.file]) == "trusted"
                )
            )
            self._trust.answers.record(_named(own))
            self._note(items)
        except StateUnavailable as error:
            _log.warning("The instructions in %s are not recorded as yours: %s", path, error)

    async def aclose(self) -> None:
        """Wait for running threads."""
        await asyncio.gather(*self._tasks)

    def _items(self) -> list[FolderItem]:
        instructions = instruction_items(self._instructions)
        self._note(instructions)
        found = [item for source in self._sources for item in source()]
        return [*found, *instructions]

    def _note(self, instructions: Iterable[FolderItem]) -> None:
        self._seen = {item.file: item.digest for item in instructions}

    def _view(self, items: Iterable[FolderItem]) -> FolderTrustView:
        return FolderTrustView(
            folder=str(self._instructions.workspace.directory),
            policy=self._trust.policy,
            items=tuple(map(self._shown, items)),
        )

    def _shown(self, item: FolderItem) -> TrustItem:
        return TrustItem(
            id=item.digest,
            kind=item.kind,
            name=item.name,
            file=item.file,
            line=item.line,
            content=item.content,
            host=item.host,
            warnings=item.warnings,
            state=self._state(item),
        )

    def _state(self, item: FolderItem) -> TrustState:
        answer = self._instructions.answer(item)
        if answer is not None:
            return answer
        return "changed" if self._trust.answers.named(item.kind, item.name) else "new"


def _policy(settings: HostSettings, root: Path) -> TrustPolicy:
    """Return the administrator's decision about a folder."""
    named = (Path(os.path.realpath(folder)) for folder in settings.trusted_folders)
    if any(root.is_relative_to(folder) for folder in named):
        return "trusted"
    policies: Mapping[FolderTrustSetting, TrustPolicy] = {"always": "trusted", "never": "forbidden"}
    if settings.folder_trust in policies:
        return policies[settings.folder_trust]
    return "ask"


def _named(items: Iterable[FolderItem]) -> Iterator[tuple[Any, str, str]]:
    return ((item.kind, item.name, item.digest) for item in items)
