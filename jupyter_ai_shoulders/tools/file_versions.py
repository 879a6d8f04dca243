"""Which version of a file a conversation has read: what it has not read, it does not write over.

Used by the tools that write and delete files. Reading a part of a file is enough to edit it, for an
edit names the text it replaces; to write over a file, it must have been read whole.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.files.base import TextSnapshot
from jupyter_ai_shoulders.tools.base import CallContext, Result
from jupyter_ai_shoulders.tools.file_text import Lines, shown_lines
from jupyter_ai_shoulders.tools.notebook_access import failed
from jupyter_ai_shoulders.tools.seen_texts import SeenTexts
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import ProposalId, Version
from jupyter_ai_shoulders.wire.results import SeenVersion
from jupyter_ai_shoulders.wire.versions import ABSENT

_PART = "part:"
"""Before the version of a file of which only a part was read."""


class FileVersions:
    """Notes what is read, and refuses to write what was not, or was changed since."""

    def __init__(self, texts: SeenTexts, ids: IdSource) -> None:
        self._texts = texts
        self._ids = ids

    def note(self, snapshot: TextSnapshot, *, whole: bool, before: Version | None) -> SeenVersion:
        """Note that a file was shown; ``before`` is what the conversation knew of it until now."""
        self._texts.add(snapshot.version, snapshot.text)
        whole = whole or before == snapshot.version
        return _seen(snapshot.path, snapshot.version, whole=whole)

    def note_text(self, path: str, version: Version, text: str) -> SeenVersion:
        """Note that the conversation wrote this text."""
        self._texts.add(version, text)
        return _seen(path, version, whole=True)

    def refusal(
        self,
        snapshot: TextSnapshot,
        context: CallContext,
        *,
        whole: bool,
        wanted: str | None = None,
    ) -> Result | None:
        """Return why a file must not be changed now, with its text; None when it may.

        ``whole``: all of it must have been read. ``wanted`` is what the model would make of it;
        where the user changed the file meanwhile, it becomes a proposal.
        """
        known = context.seen.get((snapshot.path, None))
        if known is None:
            return self._refused(snapshot, known, not_read(snapshot.path))
        if known == snapshot.version:
            return None
        if known.removeprefix(_PART) != snapshot.version:
            return self.stale(snapshot, context, wanted)
        return self._refused(snapshot, known, _read_in_part(snapshot.path)) if whole else None

    def stale(
        self, current: TextSnapshot, context: CallContext, wanted: str | None = None
    ) -> Result:
        """Refuse to write over what was changed since; keep what was wanted as a proposal."""
        known = context.seen.get((current.path, None))
        proposal = None
        if wanted is not None and wanted != current.text:
            proposal = self._proposal(current, context, wanted)
        kept = "Your version was put to the user as a proposal. " if proposal else ""
        error = ErrorInfo(
            code="stale",
            message=f"{current.path} was changed since you read it; nothing was overwritten.",
            hint=f"{kept}It now reads as follows; if a change is still needed, make it to this.",
        )
        return self._refused(current, known, error, proposal)

    def read_text(self, path: str, context: CallContext) -> str | None:
        """Return the text that the conversation has read last, if it is remembered."""
        known = context.seen.get((path, None))
        return None if known is None else self._texts.get(Version(known.removeprefix(_PART)))

    def _refused(
        self,
        snapshot: TextSnapshot,
        known: Version | None,
        error: ErrorInfo,
        proposal: Proposal | None = None,
    ) -> Result:
        lines = shown_lines(snapshot.text)
        return failed(
            error,
            page_text(snapshot, lines),
            kind="proposal" if proposal else "none",
            data=None if proposal is None else {"proposal_id": proposal.id},
            seen=(self.note(snapshot, whole=lines.whole, before=known),),
            proposal=proposal,
        )

    def _proposal(self, current: TextSnapshot, context: CallContext, wanted: str) -> Proposal:
        base = self.read_text(current.path, context)
        return Proposal(
            id=ProposalId(self._ids.new("proposal")),
            session_id=context.session_id,
            turn_id=context.turn_id,
            document=current.path,
            cell_id=None,
            old=current.text if base is None else base,
            new=wanted,
            current=current.text,
            current_version=current.version,
            reason="The file was changed after the agent had read it.",
            state="proposed",
        )


def page_text(snapshot: TextSnapshot, lines: Lines) -> str:
    """Return some lines of a file with a heading, and how to read on."""
    notes = [f"{lines.total} line{'s' * (lines.total != 1)}"]
    if snapshot.encoding != "utf-8":
        notes.append(snapshot.encoding)
    if snapshot.newline != "\n":
        notes.append({"\r\n": "CRLF line ends", "\r": "CR line ends"}.get(snapshot.newline, ""))
    if snapshot.dirty:
        notes.append("open in the page with unsaved changes, which are included")
    heading = f'File "{snapshot.path}" ({", ".join(filter(None, notes))})'
    if not lines.total:
        return f"{heading}\n(empty file)"
    return "\n".join(filter(None, [heading, lines.text, _read_on(lines)]))


def _read_on(lines: Lines) -> str:
    if lines.last < lines.first:
        return f"[no such lines; the last is line {lines.total}]"
    if lines.first == 1 and lines.last == lines.total:
        return ""
    more = f"; read on with start_line={lines.last + 1}" if lines.last < lines.total else ""
    return f"[lines {lines.first}-{lines.last} of {lines.total}{more}]"


def seen_other(path: str, version: Version) -> SeenVersion:
    """Note that a file that is no text was described: there is nothing more to read of it."""
    return _seen(path, version, whole=True)


def knows(context: CallContext, path: str, version: Version) -> bool:
    """Return whether a conversation has read this version, or a part of it."""
    known = context.seen.get((path, None))
    return known is not None and known.removeprefix(_PART) == version


def moved(context: CallContext, path: str, new_path: str) -> tuple[SeenVersion, ...]:
    """Return what a conversation knows of a file, its cells or a folder under its new name."""
    return tuple(
        SeenVersion(path=new_path + known[len(path) :], cell_id=cell_id, version=version)
        for (known, cell_id), version in context.seen.items()
        if (known == path or known.startswith(f"{path}/")) and version != ABSENT
    )


def not_read(path: str) -> ErrorInfo:
    """Return why a file that was not read is not changed; its text is beside it."""
    return ErrorInfo(
        code="not_read",
        message=f"{path} was not read in this conversation yet; nothing was changed.",
        hint="Here it is; call again if the change is still right.",
    )


def _read_in_part(path: str) -> ErrorInfo:
    return ErrorInfo(
        code="not_read",
        message=f"Only a part of {path} was read, so it is not written over; nothing was changed.",
        hint="Use edit_file to change a part of it, or read the rest first if it is short enough "
        "to be shown at once.",
    )


def _seen(path: str, version: Version, *, whole: bool) -> SeenVersion:
    known = version if whole else Version(f"{_PART}{version}")
    return SeenVersion(path=path, cell_id=None, version=known)
