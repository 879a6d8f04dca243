"""Describes an approval for terminals and cells: what a call does, and what an answer allows.

Pure; used by ``cli.chat.user_prompts`` and ``kernel.magic_turn``. The panel has its own texts,
which are translated.
"""

from __future__ import annotations

from jupyter_ai_shoulders.client.lazy_imports import ev

_EFFECTS: dict[ev.EffectKind, str] = {
    "deletes_files": "deletes files",
    "writes_files": "writes files",
    "network": "uses the network",
    "installs": "installs packages",
    "shell": "runs shell commands",
    "long_loop": "may run for long",
    "dynamic_code": "runs code built at run time",
    "outside_code": "runs code not shown here",
    "unknown": "effects not fully visible",
}


def effects_line(question: ev.ApprovalRequest) -> str | None:
    """Return the effects found in the code, and how a command is confined; None for neither."""
    parts: list[str] = []
    if question.effects is not None:
        parts.append(
            ", ".join(_EFFECTS[effect] for effect in question.effects)
            or "no files, network or shell seen"
        )
    if question.sandboxed is not None:
        parts.append(_sandbox(question))
    text = " · ".join(parts)
    return text[:1].upper() + text[1:] if text else None


def _sandbox(question: ev.ApprovalRequest) -> str:
    if not question.sandboxed:
        return "not sandboxed"
    held = "sandboxed, read-only" if question.read_only else "sandboxed"
    match question.network:
        case None:
            return held
        case True:
            return f"{held}, network"
        case False:
            return f"{held}, no network"


def always_line(question: ev.ApprovalRequest) -> str:
    """Return what "always" allows in the future."""
    path, url = question.arguments.get("path"), question.arguments.get("url")
    if isinstance(path, str):
        return f"{question.tool}, on {path}"
    if question.reach is not None:
        if question.reach.exact:
            return f"only this command: {question.reach.command}"
        return f"commands that begin with {question.reach.command} and only read"
    return (
        f"{question.tool}, at the host of {url}"
        if isinstance(url, str)
        else f"every {question.tool}"
    )
