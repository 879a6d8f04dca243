"""Checks that an approved call would still run as the user saw it (see
docs/design/engine.md#approvals).

``engine.calls.approvals`` records hashes of the facts with the question;
``engine.calls.batch_runner`` compares them right before the call runs. Facts that an approval does
not depend on are left out: titles, durations, and whether a change can be undone.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict

from jupyter_ai_shoulders.engine.loop.state import (
    NOT_CONFINED,
    AllowCall,
    CallState,
    Confinement,
    ShownCall,
)
from jupyter_ai_shoulders.engine.loop.synthetic_results import changed_since_approval
from jupyter_ai_shoulders.tools.base import CallSubject
from jupyter_ai_shoulders.wire.base import Json
from jupyter_ai_shoulders.wire.errors import ErrorInfo
from jupyter_ai_shoulders.wire.events import Risk

DEFINITION = "definition"
"""The fact that holds a tool's definition itself, which grants and rules keep."""
_PREVIEW = "the preview of this call"
_NAMES: Mapping[str, str] = {
    "arguments": "the arguments of this call",
    "preview": _PREVIEW,
    "target": "the target of this call",
    "definition": "what the server says about this tool",
    "external": "whether this call sends data outside this computer",
    "protection": "the protection of this call",
}


def confinement_of(subject: CallSubject) -> Confinement:
    """Return the confinement the call would run in."""
    return Confinement(subject.sandboxed, subject.read_only, subject.network)


def fact_hashes(
    subject: CallSubject, *, arguments: Json, external: bool, risk: Risk
) -> Mapping[str, str]:
    """Return the SHA-256 of each fact an approval is bound to, by name.

    The code of edits is left out: edits compare versions themselves and become proposals when they
    no longer fit.
    """
    target = asdict(subject.target)
    definition = target.pop("definition")
    facts: dict[str, Json] = {
        "arguments": arguments,
        "target": target,
        "external": external,
        "protection": [subject.reads_secret, subject.protected_path, subject.always_ask_reason],
    }
    if _preview_is_complete(subject, risk):
        facts["preview"] = [subject.language, subject.preview]
    hashes = {name: canonical_hash(fact) for name, fact in facts.items()}
    return hashes if definition is None else {**hashes, DEFINITION: definition}


def canonical_hash(value: Json) -> str:
    """Return the SHA-256 of a value's canonical JSON."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def change_since_approval(
    call: CallState, subject: CallSubject, *, external: bool
) -> ErrorInfo | None:
    """Return why an approved call may not run: a fact changed since the approval."""
    held = call.verdict.confinement if isinstance(call.verdict, AllowCall) else NOT_CONFINED
    now = confinement_of(subject)
    if not _is_same_confinement(held, now):
        return changed_since_approval(
            f"it was allowed to run {_confinement_text(held)}, not {_confinement_text(now)}."
        )
    if call.shown is None:
        return None
    changed = _changed_fact(call, call.shown, subject, external)
    return (
        changed_since_approval(f"{changed} changed after the user allowed it.") if changed else None
    )


def _changed_fact(
    call: CallState, shown: ShownCall, subject: CallSubject, external: bool
) -> str | None:
    """Return the name of the first fact that changed."""
    if not shown.hashes:
        bound = shown.preview is not None and _preview_is_complete(subject, call.risk)
        return _PREVIEW if bound and shown.preview != subject.preview else None
    hashes = fact_hashes(subject, arguments=call.arguments, external=external, risk=call.risk)
    return next(
        (_NAMES.get(name, name) for name in hashes if shown.hashes.get(name) != hashes[name]), None
    )


def _preview_is_complete(subject: CallSubject, risk: Risk) -> bool:
    return risk == "execute" or subject.preview_is_complete


def _is_same_confinement(held: Confinement, now: Confinement) -> bool:
    """Return whether the confinement is as approved; facts missing in old logs match anything.

    A call runs without a sandbox only if that was approved.
    """
    if held.sandboxed is None:
        return now.sandboxed is not False
    return held.sandboxed == now.sandboxed and all(
        known is None or known == found
        for known, found in ((held.read_only, now.read_only), (held.network, now.network))
    )


def _confinement_text(confinement: Confinement) -> str:
    if confinement.sandboxed is not True:
        return "without a sandbox" if confinement.sandboxed is False else "in a sandbox"
    kind = "a read-only sandbox" if confinement.read_only else "a sandbox"
    match confinement.network:
        case None:
            return f"in {kind}"
        case True:
            return f"in {kind} with network access"
        case False:
            return f"in {kind} without network access"
