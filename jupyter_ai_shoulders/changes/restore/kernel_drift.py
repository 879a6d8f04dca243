"""What a kernel holds that its notebook does not say any more (chapter 06, consistency on undo).

Pure; used by restores, and meant for whoever takes back a cell that already ran: the words are in
``core.restore_description``.
"""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_ai_shoulders.notebook.analysis.name_analysis import cell_names
from jupyter_ai_shoulders.wire.event_types.restore import KernelSince, RanCell
from jupyter_ai_shoulders.wire.events import CellDeed, KernelDrift

NAMES_LIMIT = 20


def find_kernel_drift(
    document: str, runs: Iterable[CellDeed], kernel: str | None
) -> KernelDrift | None:
    """Return what is left of these runs in the kernel as it is now; None when nothing ran.

    ``kernel`` is its ``kernel_generation``, None while there is none.
    """
    # A cell that ran again did the same once more.
    last = {
        (action.cell_id, action.version if action.what == "scratch" else None): action
        for action in runs
    }
    if not last:
        return None
    known = [action for action in last.values() if action.kernel in {kernel, None}]
    since: KernelSince
    if kernel is None:
        since, held = "gone", list(last.values())
    elif not known:
        since, held = "restarted", list(last.values())
    else:
        told = " " in kernel and all(action.kernel is not None for action in known)
        since, held = "same" if told else "unknown", known
    return KernelDrift(document=document, kernel=since, cells=tuple(map(_ran, held)))


def _ran(action: CellDeed) -> RanCell:
    touched = sorted(cell_names(action.source or "").touches)
    names = tuple(name for name in touched if not name.startswith("_"))[:NAMES_LIMIT]
    return RanCell(cell_id=action.cell_id, title=action.title, names=names)
