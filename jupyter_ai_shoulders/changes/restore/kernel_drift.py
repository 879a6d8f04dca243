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

    ``kernel`` is its ``incarnation``, None while there is none.
    """
    # A cell that ran again did the same once more.
    last = {(deed.cell_id, deed.version if deed.what == "scratch" else None): deed for deed in runs}
    if not last:
        return None
    known = [deed for deed in last.values() if deed.kernel in {kernel, None}]
    since: KernelSince
    if kernel is None:
        since, held = "gone", list(last.values())
    elif not known:
        since, held = "restarted", list(last.values())
    else:
        told = " " in kernel and all(deed.kernel is not None for deed in known)
        since, held = "same" if told else "unknown", known
    return KernelDrift(document=document, kernel=since, cells=tuple(map(_ran, held)))


def _ran(deed: CellDeed) -> RanCell:
    touched = sorted(cell_names(deed.source or "").touches)
    names = tuple(name for name in touched if not name.startswith("_"))[:NAMES_LIMIT]
    return RanCell(cell_id=deed.cell_id, title=deed.title, names=names)
