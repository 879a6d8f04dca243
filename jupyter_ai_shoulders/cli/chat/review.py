"""Review in the terminal chat: shows changes and proposals as diffs, and passes decisions on.

Made by ``chat_session``; ``slash_commands`` calls it. The engine decides, as for the side panel.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from jupyter_ai_shoulders.cli.chat.chat_backend import ChatReview
from jupyter_ai_shoulders.cli.chat.exact_output import SHORT_LINES, show_lines
from jupyter_ai_shoulders.cli.chat.terminal import TerminalScreen
from jupyter_ai_shoulders.client.errors import describe_error
from jupyter_ai_shoulders.core.restore.description import describe_kernel_drift
from jupyter_ai_shoulders.core.text_merge import merge_preferring, merge_words
from jupyter_ai_shoulders.tools.editing.diff import bounded_diff
from jupyter_ai_shoulders.wire.api.commands import DecideEdits, DecideProposal, EditChoice
from jupyter_ai_shoulders.wire.edits import EditDecisions, PendingEdit, Proposal

Item = PendingEdit | Proposal
ALL = "all"
_HINT = "/keep or /undo a change, /apply or /dismiss a proposal, with its number or all"
_CONFLICT = "You have changed the same lines since. Undo keeps your changes."
_OVERLAP = "You changed the same lines. /apply uses the text shown here, /dismiss keeps yours."


class Review:
    """Pending items, by the numbers under which they were last shown."""

    def __init__(self, backend: ChatReview, screen: TerminalScreen) -> None:
        self._backend = backend
        self._screen = screen
        self._listed: list[Item | None] | None = None
        """Items as last shown; decided ones keep their number. None after a turn."""

    def forget(self) -> None:
        """Invalidate the numbers: the agent may have changed more."""
        self._listed = None

    def announce(self) -> None:
        """Print the number of pending items, if any."""
        edits, proposals = len(self._backend.edits()), len(self._backend.proposals())
        if edits or proposals:
            self._screen.note(waiting_text(edits, proposals))

    def show_pending(self, selection: str) -> None:
        """List pending items with short diffs, or show the whole diff of some."""
        if selection and selection != ALL and self._listed is not None:
            self._show(self._chosen(selection), cut=False)
            return
        self._listed = self._waiting()
        if not self._listed:
            self._screen.write_lines("Nothing to review.")
        elif selection and selection != ALL:
            self._show(self._chosen(selection), cut=False)
        else:
            self._list(in_full=selection == ALL)

    def decide_edits(self, decision: Literal["keep", "undo"], selection: str) -> None:
        """Keep or undo changes, which are named by number."""
        found = self._select(f"/{decision}", selection)
        chosen = {at: item for at, item in found.items() if isinstance(item, PendingEdit)}
        for at in found.keys() - chosen.keys():
            self._screen.warn(f"{at + 1} is a proposal: use /apply or /dismiss.")
        if not chosen:
            return
        choices = tuple(
            EditChoice(
                id=edit.id,
                current_version=edit.current_version,
                baseline_version=edit.baseline_version,
            )
            for edit in chosen.values()
        )
        decided = self._backend.decide_edits(DecideEdits(decision=decision, edits=choices))
        self._report(decision, chosen, decided)

    def decide_proposals(self, decision: Literal["apply", "dismiss"], selection: str) -> None:
        """Apply or dismiss proposals, which are named by number."""
        for at, item in self._select(f"/{decision}", selection, of=Proposal).items():
            if isinstance(item, Proposal):
                decided = self._backend.decide_proposal(item.id, _decision(item, decision))
                self._done(at)
                self._screen.write_lines(f"{_location(item)}: {_outcome(decided)}")
            else:
                self._screen.warn(f"{at + 1} is a change: use /keep or /undo.")

    def _report(
        self, decision: Literal["keep", "undo"], chosen: dict[int, PendingEdit], done: EditDecisions
    ) -> None:
        for at, edit in chosen.items():
            if edit.id in done.resolved:
                self._done(at)
                self._screen.write_lines(
                    f"{'Kept' if decision == 'keep' else 'Undone'}: {_location(edit)}"
                )
        names = {edit.id: _location(edit) for edit in chosen.values()}
        for conflict in done.left:
            name = names.get(conflict.edit.id) if conflict.edit else None
            self._screen.warn(
                f"{name}: {describe_error(conflict.error)}"
                if name
                else describe_error(conflict.error)
            )
        if done.left:
            self.forget()
            self._screen.note("/review shows it as it is now.")
        for drift in filter(None, map(describe_kernel_drift, done.drift)):
            self._screen.note(drift)

    def _select(
        self, command: str, wanted: str, of: type[PendingEdit | Proposal] = PendingEdit
    ) -> dict[int, Item]:
        """Return the named items; none before they were shown to the user."""
        if self._listed is None and wanted != ALL:
            self.show_pending("")
            if self._listed:
                self._screen.note(f"Look at it, then type {command} with the numbers.")
            return {}
        if wanted and wanted != ALL:
            return self._chosen(wanted)
        self._listed = self._listed or self._waiting()
        found = {at: item for at, item in enumerate(self._listed) if isinstance(item, of)}
        if not found:
            self._screen.write_lines(f"There is nothing to {command.removeprefix('/')}.")
        elif len(found) > 1 and wanted != ALL:
            self._screen.warn(f"Name what you mean: {command} 1, numbered as in /review, or all.")
            return {}
        return found

    def _waiting(self) -> list[Item | None]:
        return [*self._backend.edits(), *self._backend.proposals()]

    def _chosen(self, selection: str) -> dict[int, Item]:
        """Return the items of some numbers, or none if one of them is wrong."""
        found: dict[int, Item] = {}
        for word in selection.replace(",", " ").split():
            at = _index(word)
            item = self._listed[at] if self._listed and 0 <= at < len(self._listed) else None
            if item is None:
                self._screen.warn(f"There is no number {word}; see /review.")
                return {}
            found[at] = item
        return found

    def _done(self, at: int) -> None:
        if self._listed is not None:
            self._listed[at] = None

    def _list(self, *, in_full: bool) -> None:
        listed = {at: item for at, item in enumerate(self._listed or []) if item is not None}
        lines = sum(_diff(item).count("\n") + 1 for item in listed.values())
        if in_full or lines <= SHORT_LINES:
            self._show(listed, cut=not in_full)
        else:
            for at, item in listed.items():
                self._screen.write_lines(_title(at, item), "bold")
            self._screen.note("/review 1 shows what changes there, /review all everything.")
        self._screen.note(_HINT)

    def _show(self, items: dict[int, Item], *, cut: bool) -> None:
        for at, item in items.items():
            self._screen.write_lines(_title(at, item), "bold")
            whole = show_lines(self._screen, _diff(item), cut=cut)
            if not whole:
                self._screen.note(f"/review {at + 1} shows all of it.")
            for remark in _remarks(item):
                self._screen.warn(remark)


def waiting_text(edits: int, proposals: int) -> str:
    """Return how many changes and proposals are pending, and where they are shown."""
    counts = (_count(edits, "change"), _count(proposals, "proposal"))
    return f"{' and '.join(filter(None, counts))} to review: /review"


def _count(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}" if number else ""


def _index(word: str) -> int:
    return int(word) - 1 if word.isascii() and word.isdecimal() and len(word) < 6 else -1


def _title(at: int, item: Item) -> str:
    if isinstance(item, Proposal):
        reason = f": {' '.join(item.reason.split())}" if item.reason else ""
        return f"{at + 1}. {_location(item)} · proposed{reason}"
    match item.baseline, item.current:
        case None, None:
            what = "changed"
        case None, _:
            what = "new"
        case _, None:
            what = "deleted"
        case _:
            what = "changed"
    return f"{at + 1}. {_location(item)} · {what}{_extent(item)}"


def _extent(edit: PendingEdit) -> str:
    """Return how many lines of a text were added and removed."""
    if not edit.hunks:
        return ""
    come = sum(hunk.after_to - hunk.after_from for hunk in edit.hunks)
    gone = sum(hunk.before_to - hunk.before_from for hunk in edit.hunks)
    return f" (+{come} -{gone})"


def _location(item: Item) -> str:
    """Return an item's location: a file, or a cell by its number or its first line."""
    if item.cell_id is None:
        return item.document
    if isinstance(item, PendingEdit):
        return f"{item.document} cell {'' if item.position is None else item.position + 1}".strip()
    first = next(iter(item.current.strip().splitlines()), "")
    return f"{item.document} “{first[:40]}”" if first else f"{item.document}, an empty cell"


def _diff(item: Item) -> str:
    """Return the changed lines."""
    before = item.current if isinstance(item, Proposal) else item.baseline
    after = _result(item) if isinstance(item, Proposal) else item.current
    end = "" if item.cell_id is None else "\n"  # cells end without a line break
    return bounded_diff(*(f"{text}{end}" if text else "" for text in (before, after)))


def _overlaps(proposal: Proposal) -> bool:
    """Return whether the user has to choose between their text and the agent's."""
    return merge_words(proposal.old, proposal.current, proposal.new) is None


def _result(proposal: Proposal) -> str:
    """Return the text with the change; where both changed the same lines, with the agent's."""
    old, now, new = proposal.old, proposal.current, proposal.new
    merged = merge_words(old, now, new)
    return merge_preferring(old, now, new) if merged is None else merged


def _decision(proposal: Proposal, decision: Literal["apply", "dismiss"]) -> DecideProposal:
    """Return the command; a proposal that replaces the user's lines is applied as shown."""
    if decision == "apply" and _overlaps(proposal):
        return DecideProposal(decision="apply", text=_result(proposal), base=proposal.current)
    return DecideProposal(decision=decision)


def _remarks(item: Item) -> Sequence[str]:
    if isinstance(item, Proposal):
        return (_OVERLAP,) if _overlaps(item) else ()
    error = () if item.error is None else (describe_error(item.error),)
    return (*error, _CONFLICT) if item.conflict else error


def _outcome(proposal: Proposal) -> str:
    """Return the result of a proposal."""
    what = "file" if proposal.cell_id is None else "cell"
    match proposal.state:
        case "applied":
            return "applied"
        case "edited":
            return "applied; what you changed in other lines stays"
        case "dismissed":
            return "dismissed"
        case "conflict":
            return "you changed the same lines, so nothing was written. /review shows both texts."
        case "stale":
            return f"the {what} is gone, so nothing was written"
        case "proposed" | "undone":
            return proposal.state
