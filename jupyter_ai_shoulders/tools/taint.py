"""Where text came from that neither the user nor this conversation wrote (chapter 13, taint).

A text that the agent reads may hold orders of a stranger. From then on nothing that the user
allowed beforehand runs, reaches out or changes what is not in front of them without a question that
says where the text came from. What counts: pages and other answers from outside, output of
commands, results of searches and of git, answers of other conversations, and files that the user
had not open. What the user has open is theirs to vouch for, and a rule that names a document
vouches for that document.

Pure: ``engine.fold`` asks ``source_of`` for each result, so the log alone tells a conversation's
taint; ``tools.rules`` goes by it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.wire.events import Risk

MOST_SOURCES = 20
"""Sources that are remembered by name; one is enough to ask."""
_NAMED = 3
_LABEL = 120

_OUTPUTS = frozenset({"run_command"})
_SEARCHES = {
    "search_content": "a search of the workspace",
    "git_diff": "a diff of git",
    "git_status": "git",
    "list_files": "names of files",
    "read_tasks": "answers in tasks",
}
_READERS = frozenset(
    {
        *("read_file", "read_notebook", "read_cell_output", "search_notebook", "inspect_variables"),
        *("run_cell", "run_all_cells", "run_code", "verify_notebook"),
    }
)
"""Tools whose result holds what stands in, or comes out of, the document they name."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a text came from; ``path`` of a document of the workspace."""

    label: str
    path: str | None = None


def source_of(
    tool: str,
    target: Target,
    *,
    external: bool,
    vouched: Collection[str],
    foreign: bool = False,
) -> Source | None:
    """Return whose text the result of a call holds; None when it is the user's or the agent's own.

    ``vouched`` are the documents the user has open, and those this conversation made. What a
    ``foreign`` tool (another package's) reads is not known: all it says counts, but of those.
    """
    if external:
        return Source(target.domain or f"what {tool} answered")
    if tool in _OUTPUTS:
        command = " ".join((target.command or "").split())
        shown = command if len(command) <= _LABEL else f"{command[: _LABEL - 1]}…"
        return Source(f"the output of {shown!r}")
    if tool in _SEARCHES:
        return Source(_SEARCHES[tool])
    if tool == "search_notebook" and target.path is None:
        return Source("a search of the notebooks")
    named = target.path is not None and (tool in _READERS or foreign)
    if named and target.path is not None and target.path not in vouched:
        return Source(target.path, target.path)
    return Source(f"what {tool} answered") if foreign and not named else None


def suspends(
    sources: Sequence[Source], risk: Risk, subject: CallSubject, *, external: bool, named: bool
) -> Sequence[Source]:
    """Return the sources for which what was allowed beforehand does not hold for this call.

    ``named``: the user had allowed it for this very document, whose text they so vouch for.
    """
    if external or risk == "execute":
        pass
    elif risk == "read" or subject.dry or (subject.in_page and subject.undoable):
        return ()
    own = subject.target.path if named else None
    return [source for source in sources if source.path is None or source.path != own]


def in_words(sources: Sequence[Source]) -> str:
    """Return the sentence an approval says it with."""
    labels = [source.label for source in sources]
    named = ", ".join(labels[:_NAMED])
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    return f"The agent has read text that may not be yours, from {named}{more}."
