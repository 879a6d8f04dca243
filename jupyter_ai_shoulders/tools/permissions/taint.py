"""Taint: sources of text in a conversation that the user did not type.

Text that the agent reads may contain someone else's instructions. After reading it, earlier
permission no longer covers running code, external calls, or changes outside the user's open
documents; such calls ask and name the source. Everything that is read counts, including open
documents, outputs and variables. A rule that names one document vouches for its content; so does an
answer, or the mode, of this conversation for a document the user has open.

Pure: ``engine.loop.taint_tracking`` calls ``taint_source`` for each result, so the log alone gives
a conversation's sources; ``tools.permissions.rules`` uses them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.tools.base import CallSubject, Target
from jupyter_ai_shoulders.wire.events import Risk

MAX_SOURCES = 20
"""Sources remembered by name; a single source is enough to ask."""
_NAMED = 3
_LABEL = 120

_KNOWN_RESULTS = frozenset(
    {
        *("todo", "complete", "clarify", "share_artifact", "load_tools", "read_output"),
        *("create_file", "write_file", "edit_file", "edit_document", "edit_document_file"),
        *("create_notebook", "db_execute"),
        *("add_cell", "edit_cell", "delete_cell", "move_cell", "clear_outputs"),
        *("rename_file", "move_file", "duplicate_file", "delete_file"),
        *("restart_kernel", "interrupt_kernel", "add_task", "create_proposal", "propose_edit"),
        *("edit_reference", "cite_reference", "remember", "forget"),
    }
)
"""Tools whose successful results contain nothing new to the conversation."""
_KNOWN_ERRORS = frozenset({"todo", "complete", "clarify", "load_tools", "remember", "forget"})
"""Tools whose errors contain nothing new; errors of other tools may quote names or similar text."""
_LABELS = {
    "search_content": "a search of the workspace",
    "semantic_search": "a search of the workspace",
    "search_notebook": "a search of the notebooks",
    "git_diff": "a diff of git",
    "git_status": "git",
    "git_commit": "git",
    "list_files": "names of files",
    "list_kernels": "names of kernels",
    "file_history": "the history of files",
    "read_tasks": "answers in tasks",
    "search_references": "a search of bibliographies",
    "db_schema": "the agent's database",
    "db_query": "the agent's database",
    "db_execute": "the agent's database",
}
_OF_MANY = frozenset(_LABELS) - {"search_notebook"}
"""Tools whose results are not limited to the document they name."""
_OF_OPEN_DOCUMENT = frozenset(
    {"read_document", "search_document", "get_document_info", "edit_document"}
)


@dataclass(frozen=True, slots=True)
class TaintSource:
    """Source of a text; ``path`` names a document of the workspace."""

    label: str
    path: str | None = None


def taint_source(
    tool: str,
    target: Target,
    *,
    external: bool = False,
    foreign: bool = False,
    failed: bool = False,
    document: str | None = None,
) -> TaintSource | None:
    """Return the source of a call's result; None if the result contains nothing new.

    ``foreign``: the tool is from another package. ``document``: the user's active document.
    """
    known = _KNOWN_ERRORS if failed else _KNOWN_RESULTS
    if external:
        return TaintSource(target.domain or f"what {tool} answered")
    if tool in known and not foreign:
        return None
    if target.command is not None:
        command = " ".join(target.command.split())
        shown = command if len(command) <= _LABEL else f"{command[: _LABEL - 1]}…"
        return TaintSource(f"the output of {shown!r}")
    path = document if tool in _OF_OPEN_DOCUMENT else target.path
    if path is not None and tool not in _OF_MANY:
        return TaintSource(path, path)
    return TaintSource(_LABELS.get(tool, f"what {tool} answered"))


def blocking_sources(
    sources: Sequence[TaintSource],
    risk: Risk,
    subject: CallSubject,
    *,
    external: bool,
    vouched: bool,
) -> Sequence[TaintSource]:
    """Return the sources because of which earlier permission does not cover this call.

    ``vouched``: content of the document itself does not count, because the user allowed the call
    for this document, or allowed it in this conversation with the document open.
    """
    if external or risk == "execute":
        pass
    elif risk == "read" or subject.dry_run or (subject.in_page and subject.undoable):
        return ()
    own = subject.target.path if vouched else None
    return [source for source in sources if source.path is None or source.path != own]


def taint_warning(sources: Sequence[TaintSource]) -> str:
    """Return the warning for the approval."""
    labels = [source.label for source in sources]
    named = ", ".join(labels[:_NAMED])
    more = f" and {len(labels) - _NAMED} more" if len(labels) > _NAMED else ""
    return f"The agent has read text that may not be yours, from {named}{more}."
