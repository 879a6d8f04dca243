"""Reports which of the folder's own settings do not apply, or trusts them (``--trust-folder``).

Called by ``dispatch`` before ``run`` and ``chat``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from jupyter_ai_shoulders.cli.output import write_error
from jupyter_ai_shoulders.wire.api.folder_trust import (
    FolderTrustView,
    ItemKind,
    PutTrust,
    TrustItem,
)

_WORDS: dict[ItemKind, tuple[str, str]] = {
    "rule": ("1 permission rule", "{} permission rules"),
    "provider": ("1 model server", "{} model servers"),
    "model": ("1 model", "{} models"),
    "setting": ("1 setting", "{} settings"),
    "instructions": ("instructions", "instructions"),
    "skill": ("1 skill", "{} skills"),
}


class TrustBackend(Protocol):
    """The part of ``Backend`` that is needed here."""

    def trust(self) -> FolderTrustView:
        """Return the settings that came with the folder."""
        ...

    def answer_trust(self, command: PutTrust) -> FolderTrustView:
        """Trust or decline some of these settings."""
        ...


def trust_or_report_folder(backend: TrustBackend, *, trust_folder: bool) -> None:
    """Trust unanswered items if requested; otherwise report that they do not apply.

    Raises as ``answer_trust`` does.
    """
    view = backend.trust()
    waiting = [
        item for item in view.items if item.state in {"new", "changed"} and item.kind != "program"
    ]
    if not waiting:
        return
    what = ", ".join(_summary(waiting))
    if trust_folder:
        backend.answer_trust(PutTrust(trust=tuple(item.id for item in waiting)))
        write_error(f"Trusted the AI settings of {view.folder}: {what}.\n")
        return
    advice = "Review them in JupyterLab's AI settings, or accept them all with --trust-folder."
    if view.policy == "forbidden":
        advice = "Your administrator does not let folders bring settings of their own."
    write_error(f"{view.folder} brings its own AI settings, which do not apply: {what}. {advice}\n")


def _summary(items: Sequence[TrustItem]) -> Iterator[str]:
    for kind, (one, many) in _WORDS.items():
        found = [item for item in items if item.kind == kind]
        if not found:
            continue
        text = one if len(found) == 1 else many.format(len(found))
        hosts = sorted({item.host for item in found if item.host}) if kind == "provider" else []
        yield f"{text} ({', '.join(hosts)})" if hosts else text
