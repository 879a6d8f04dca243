"""Tracks which versions of files a conversation has read; unread text is not overwritten.

Used by the tools that write and delete files. Reading part of a file is enough to edit it, since an
edit names the text it replaces; overwriting needs the whole file. Later changes of the user are
merged.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.clock import IdSource
from jupyter_ai_shoulders.core.redaction.redactor import MASK
from jupyter_ai_shoulders.files.base import TextSnapshot
from jupyter_ai_shoulders.tools.base import CallContext, Result
from jupyter_ai_shoulders.tools.editing.read_cache import PART, ReadTextCache, known_text
from jupyter_ai_shoulders.tools.editing.text_replacement import AmbiguousMatch, NoMatch
from jupyter_ai_shoulders.tools.editing.three_way_merge import (
    NOW_READS,
    SAME_LINES,
    ConflictingEdit,
    KnownText,
    MergedText,
    MergeOutcome,
    MissingBaseText,
    RequestedEdit,
    UnmergedEdit,
    merge_edit,
    user_changes_diff,
    user_changes_text,
)
from jupyter_ai_shoulders.tools.files.numbered_lines import NumberedLines, numbered_lines
from jupyter_ai_shoulders.tools.notebook.access import failure_result
from jupyter_ai_shoulders.wire.edits import Proposal
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.ids import ProposalId, Version
from jupyter_ai_shoulders.wire.results import SeenVersion
from jupyter_ai_shoulders.wire.versions import ABSENT, text_version

HIDDEN_SECRET = ErrorInfo(
    code="invalid_arguments",
    message=f"Not written: the new text has {MASK} where the file has a secret you are not shown.",
    hint="Use edit_file for the lines around it; the secret itself stays.",
)
_LISTED_LINES = 20


class FileReadTracker:
    """Records reads, and refuses writes of unread or changed files."""

    def __init__(self, texts: ReadTextCache, ids: IdSource) -> None:
        self._texts = texts
        self._ids = ids

    def note(self, snapshot: TextSnapshot, *, whole: bool, before: Version | None) -> SeenVersion:
        """Record that a file was shown; ``before`` is the version the conversation knew before."""
        self._texts.add(snapshot.version, snapshot.text)
        whole = whole or before == snapshot.version
        return _seen(snapshot.path, snapshot.version, whole=whole)

    def note_text(self, path: str, version: Version, text: str) -> SeenVersion:
        """Record that the conversation wrote this text."""
        self._texts.add(version, text)
        return _seen(path, version, whole=True)

    def unread_refusal(
        self, snapshot: TextSnapshot, context: CallContext, *, whole: bool
    ) -> Result | None:
        """Return the refusal to change an unread file, with its text; None if it was read.

        ``whole``: all of it must have been read.
        """
        known = context.seen.get((snapshot.path, None))
        if known is None:
            return self._refused(snapshot, known, unread_error(snapshot.path))
        if whole and known.startswith(PART):
            return self._refused(snapshot, known, _read_in_part(snapshot.path))
        return None

    def is_current(self, snapshot: TextSnapshot, context: CallContext) -> bool:
        """Return whether the conversation has read this version, or a part of it."""
        return has_read(context, snapshot.path, snapshot.version)

    def merge(
        self, change: RequestedEdit, snapshot: TextSnapshot, context: CallContext
    ) -> MergeOutcome:
        """Merge an edit into the current file. Slow for long files."""
        return merge_edit(change, snapshot.text, self.known_text(snapshot, context))

    def known_text(self, snapshot: TextSnapshot, context: CallContext) -> KnownText:
        """Return the versions of the file's text that the conversation knows."""
        key = (snapshot.path, None)
        return known_text(self._texts, context, key, snapshot.version, snapshot.text)

    def unmerged_result(
        self, edit: UnmergedEdit, current: TextSnapshot, context: CallContext
    ) -> Result:
        """Return why nothing was changed; a conflict with the user becomes a proposal."""
        known = context.seen.get((current.path, None))
        match edit:
            case MissingBaseText():
                return self.stale_result(current, context)
            case ConflictingEdit():
                if edit.hides_secret:
                    return failure_result(HIDDEN_SECRET)
                return self.stale_result(current, context, self._proposal(current, context, edit))
            case NoMatch() | AmbiguousMatch():
                refused = no_replacement(current.path, edit)
                if known is None or known.removeprefix(PART) == current.version:
                    return refused
                assert refused.envelope.error is not None
                return self._refused(current, known, refused.envelope.error)

    def describe_user_changes(
        self, edit: MergedText, before: TextSnapshot, after: TextSnapshot, context: CallContext
    ) -> tuple[str, SeenVersion]:
        """Return the note on the user's other changes, and the version known thereby."""
        newest = context.seen.get((after.path, None))
        whole = newest is not None and not newest.startswith(PART)
        if newest is not None and self.known_text(before, context).read is None:
            lines = numbered_lines(after.text)
            seen = self.note(after, whole=lines.whole, before=newest)
            return f"{NOW_READS}\n{page_text(after, lines)}", seen
        diff = user_changes_diff(edit.expected, edit.text) if edit.expected != edit.text else ""
        if diff is None:
            version = text_version(edit.expected)
            self._texts.add(version, edit.expected)
            return user_changes_text(None), _seen(after.path, version, whole=whole)
        return diff and user_changes_text(diff), self.note(after, whole=whole, before=newest)

    def stale_result(
        self, current: TextSnapshot, context: CallContext, proposal: Proposal | None = None
    ) -> Result:
        """Refuse to overwrite a file changed since it was read; ``proposal`` has the new text."""
        known = context.seen.get((current.path, None))
        kept = "Your version was put to the user as a proposal. " if proposal else ""
        error = ErrorInfo(
            code="stale",
            message=f"{current.path} was changed since you read it; nothing was overwritten.",
            hint=f"{kept}It now reads as follows; if a change is still needed, make it to this.",
        )
        return self._refused(current, known, error, proposal)

    def _refused(
        self,
        snapshot: TextSnapshot,
        known: Version | None,
        error: ErrorInfo,
        proposal: Proposal | None = None,
    ) -> Result:
        lines = numbered_lines(snapshot.text)
        return failure_result(
            error,
            page_text(snapshot, lines),
            kind="proposal" if proposal else "none",
            data=None if proposal is None else {"proposal_id": proposal.id},
            seen=(self.note(snapshot, whole=lines.whole, before=known),),
            proposal=proposal,
        )

    def _proposal(
        self, current: TextSnapshot, context: CallContext, edit: ConflictingEdit
    ) -> Proposal:
        return Proposal(
            id=ProposalId(self._ids.new("proposal")),
            session_id=context.session_id,
            turn_id=context.turn_id,
            document=current.path,
            cell_id=None,
            old=edit.old,
            new=edit.new,
            current=current.text,
            current_version=current.version,
            reason=SAME_LINES,
            state="proposed",
        )


def page_text(snapshot: TextSnapshot, lines: NumberedLines) -> str:
    """Return lines of a file with a heading and a hint on how to read on."""
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


def _read_on(lines: NumberedLines) -> str:
    if lines.last < lines.first:
        return f"[no such lines; the last is line {lines.total}]"
    if lines.first == 1 and lines.last == lines.total:
        return ""
    more = f"; read on with start_line={lines.last + 1}" if lines.last < lines.total else ""
    return f"[lines {lines.first}-{lines.last} of {lines.total}{more}]"


def opaque_file_seen(path: str, version: Version) -> SeenVersion:
    """Record that a non-text file was described; it counts as fully read."""
    return _seen(path, version, whole=True)


def has_read(context: CallContext, path: str, version: Version) -> bool:
    """Return whether a conversation has read this version, or part of it."""
    known = context.seen.get((path, None))
    return known is not None and known.removeprefix(PART) == version


def renamed_versions(context: CallContext, path: str, new_path: str) -> tuple[SeenVersion, ...]:
    """Return the known versions of a file, its cells or a folder under its new name."""
    return tuple(
        SeenVersion(path=new_path + known[len(path) :], cell_id=cell_id, version=version)
        for (known, cell_id), version in context.seen.items()
        if (known == path or known.startswith(f"{path}/")) and version != ABSENT
    )


def unread_error(path: str) -> ErrorInfo:
    """Return the error for changing an unread file; the result shows its text."""
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
    known = version if whole else Version(f"{PART}{version}")
    return SeenVersion(path=path, cell_id=None, version=known)


def no_replacement(path: str, outcome: NoMatch | AmbiguousMatch) -> Result:
    """Refuse a replacement whose text does not occur exactly once."""
    if isinstance(outcome, AmbiguousMatch):
        lines = ", ".join(map(str, outcome.lines[:_LISTED_LINES]))
        more = ", …" if len(outcome.lines) > _LISTED_LINES else ""
        return failure_result(
            ErrorInfo(
                code="ambiguous",
                message=f"old_string occurs {len(outcome.lines)} times in {path}, beginning on "
                f"lines {lines}{more}; nothing was changed.",
                hint="Give more of the text around the place you mean, or set replace_all.",
            )
        )
    near = "".join(f"\n{match}" for match in outcome.near)
    return failure_result(
        ErrorInfo(
            code="not_found",
            message=f"old_string does not occur in {path}; nothing was changed.",
            hint="It must match exactly, with spaces and line ends, without line numbers.",
        ),
        f"The most similar lines:{near}" if near else None,
        kind="not_found",
    )
