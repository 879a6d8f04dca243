"""Where the memory is, whose it is, and which of its statements count. Used by ``host.memory``.

The workspace's file may have come with a clone, so it follows the folder's trust
(docs/design/trust.md): statements that this user wrote through the program count, others once the
user has reviewed them; until then they are data. The person's file is the home owner's.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.core.errors import PolicyRefusal, ShouldersError, StateUnavailable
from jupyter_ai_shoulders.core.folder_trust import FolderItem, FolderTrust, item_digest
from jupyter_ai_shoulders.core.memory.memory_text import MemoryText, Statement
from jupyter_ai_shoulders.host.ports import HostSettings
from jupyter_ai_shoulders.storage.memory.memory_file import MemoryFile
from jupyter_ai_shoulders.storage.memory.own_statements import OwnStatements, statement_hash
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from jupyter_ai_shoulders.wire.api.agent_data.memory import MemoryScope, MemoryState
from jupyter_ai_shoulders.wire.hidden_characters import legible

SHOWN: Mapping[MemoryScope, str] = {
    "person": "~/.shoulders/memory.md",
    "workspace": ".shoulders/memory.md",
}


@dataclass(frozen=True, slots=True)
class MemoryPlaces:
    """The two files, with the rights to them."""

    person: MemoryFile
    workspace: MemoryFile | None
    """None in the home directory, whose state directory is the person's."""
    own: OwnStatements
    trust: FolderTrust
    has_owners: bool
    home_owner: str | None

    def scopes(self, owner: str | None) -> tuple[MemoryScope, ...]:
        """Return the scopes of a user; ``owner`` is that of their conversations."""
        mine = not self.has_owners or (owner is not None and owner == self.home_owner)
        found: list[MemoryScope] = ["person"] if mine else []
        return (*found, "workspace") if self.workspace is not None else tuple(found)

    def file(self, scope: MemoryScope, owner: str | None) -> MemoryFile:
        """Return a file. Raises ``PolicyRefusal``."""
        if scope not in self.scopes(owner):
            raise PolicyRefusal(*_REFUSALS[scope], code="forbidden")
        if scope == "person" or self.workspace is None:
            return self.person
        return self.workspace

    def signature(self) -> object:
        """Return a value that changes when a file or an answer may have changed."""
        workspace = None if self.workspace is None else self.workspace.signature
        return (self.person.signature, workspace, self.own.signature, self.trust.revision)

    def states(self, scope: MemoryScope, text: MemoryText) -> Mapping[str, MemoryState]:
        """Return the state of each statement by its id in the file. Blocks."""
        if scope == "person":
            return {each.id: "trusted" for each in text.statements}
        own = self.own.read()
        foreign = [each for each in text.statements if statement_hash(each.text) not in own]
        answer = self.trust.answer(_digest(foreign)) if foreign else None
        state: MemoryState = "new" if answer is None else answer
        others = {each.id for each in foreign}
        return {each.id: state if each.id in others else "trusted" for each in text.statements}

    def note_own(self, scope: MemoryScope, text: MemoryText, written: Iterable[str]) -> None:
        """Count these texts as the user's; forget those that ``text`` no longer holds.

        Blocks; called while the file is locked. Raises ``StateUnavailable``.
        """
        if scope == "workspace":
            present = {statement_hash(each.text) for each in text.statements}
            known = self.own.read()
            now = (known & present) | {statement_hash(each) for each in written}
            if now != known:
                self.own.replace(now)

    def folder_items(self) -> tuple[FolderItem, ...]:
        """Return the workspace's statements for the review of the folder. Blocks."""
        if self.workspace is None:
            return ()
        try:
            text = self.workspace.read()
            own = self.own.read()
        except StateUnavailable:
            raise
        except ShouldersError:
            return ()  # the Memory page says why the file is not used
        found = () if text is None else text.statements
        foreign = [each for each in found if statement_hash(each.text) not in own]
        if not foreign:
            return ()
        shown = "\n".join(f"- {legible(each.text)}" for each in foreign)
        name = SHOWN["workspace"]
        return (FolderItem("memory", name, name, shown, _digest(foreign)),)


def memory_places(
    settings: HostSettings, state: StateDirectory, trust: FolderTrust
) -> MemoryPlaces:
    """Return the places of a host's memory."""
    home = settings.home / ".shoulders"
    same = os.path.realpath(state.path) == os.path.realpath(home)
    return MemoryPlaces(
        MemoryFile(StateDirectory(home)),
        None if same else MemoryFile(state),
        OwnStatements(home, Path(os.path.realpath(settings.workspace))),
        trust,
        settings.has_owners,
        settings.home_owner,
    )


def _digest(foreign: Iterable[Statement]) -> str:
    return item_digest("memory", SHOWN["workspace"], [each.text for each in foreign])


_REFUSALS: Mapping[MemoryScope, tuple[str]] = {
    "person": ("The personal memory is in the home directory of another user of this server.",),
    "workspace": ("This workspace is your home directory, so it has your personal memory only.",),
}
