"""An approval in words, for terminals and cells: what a call does, and what an answer allows.

Pure; used by ``cli.chat.user_prompts`` and ``kernel.magic_turn``. The panel has its own, which can
be translated.
"""

from __future__ import annotations

from jupyter_ai_shoulders.wire import events as ev

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


def effects_line(asked: ev.ApprovalRequest) -> str | None:
    """Return what a look at the code shows, and how a command is confined; None for neither."""
    parts: list[str] = []
    if asked.effects is not None:
        parts.append(
            ", ".join(_EFFECTS[effect] for effect in asked.effects)
            or "no files, network or shell seen"
        )
    if asked.sandboxed is not None:
        parts.append(_sandbox(asked))
    text = " · ".join(parts)
    return text[:1].upper() + text[1:] if text else None


def _sandbox(asked: ev.ApprovalRequest) -> str:
    if not asked.sandboxed:
        return "not sandboxed"
    held = "sandboxed, read-only" if asked.read_only else "sandboxed"
    match asked.network:
        case None:
            return held
        case True:
            return f"{held}, network"
        case False:
            return f"{held}, no network"


def always_line(asked: ev.ApprovalRequest) -> str:
    """Return what "always" allows from then on."""
    path, url = asked.arguments.get("path"), asked.arguments.get("url")
    if isinstance(path, str):
        return f"{asked.tool}, on {path}"
    if asked.reach is not None:
        if asked.reach.exact:
            return f"only this command: {asked.reach.command}"
        return f"commands that begin with {asked.reach.command} and only read"
    return f"{asked.tool}, at the host of {url}" if isinstance(url, str) else f"every {asked.tool}"
