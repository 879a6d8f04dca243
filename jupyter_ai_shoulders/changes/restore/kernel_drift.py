"""Finds state a kernel keeps that its notebook no longer shows. Pure.

Used by restores and the review; ``core.restore.description`` turns the result into text. See
docs/design/files-and-review.md#restore.
"""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_ai_shoulders.notebook.analysis.name_analysis import cell_names
from jupyter_ai_shoulders.wire.event_types.restore import KernelStatus, RanCell
from jupyter_ai_shoulders.wire.events import CellOperation, KernelDrift

NAMES_LIMIT = 20


def find_kernel_drift(
    document: str, runs: Iterable[CellOperation], kernel: str | None
) -> KernelDrift | None:
    """Return what the current kernel keeps of these runs; None without runs.

    ``kernel`` is its ``kernel_generation``, None without a kernel.
    """
    # Running a cell again repeats its effects.
    last = {
        (action.cell_id, action.version if action.what == "scratch" else None): action
        for action in runs
    }
    if not last:
        return None
    known = [action for action in last.values() if action.kernel in {kernel, None}]
    since: KernelStatus
    if kernel is None:
        since, held = "gone", list(last.values())
    elif not known:
        since, held = "restarted", list(last.values())
    else:
        told = " " in kernel and all(action.kernel is not None for action in known)
        since, held = "same" if told else "unknown", known
    return KernelDrift(document=document, kernel=since, cells=tuple(map(_ran, held)))


def _ran(action: CellOperation) -> RanCell:
    touched = sorted(cell_names(action.source or "").touches)
    names = tuple(name for name in touched if not name.startswith("_"))[:NAMES_LIMIT]
    return RanCell(cell_id=action.cell_id, title=action.title, names=names)
