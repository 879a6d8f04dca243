"""The slash commands of the terminal chat. Called by ``chat_command``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

from jupyter_ai_shoulders.cli.chat.chat_session import ChatSession, LeaveChat
from jupyter_ai_shoulders.cli.errors import CommandFailed
from jupyter_ai_shoulders.cli.export import FORMATS, write_export
from jupyter_ai_shoulders.wire.api.responses import ModelInfo
from jupyter_ai_shoulders.wire.ids import SessionId
from jupyter_ai_shoulders.wire.sessions import Mode, Session

MAX_LISTED = 20
_MODES: Mapping[str, Mode] = {mode: mode for mode in get_args(Mode)}
_MODE_TEXTS: Mapping[Mode, str] = {
    "ask": "asks before it changes or runs anything",
    "auto_edit": "edits that can be undone need no approval",
    "plan": "reads only, and makes a plan",
    "bypass": "never asks",
}


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """One slash command."""

    usage: str
    description: str
    run: Callable[[ChatSession, str], None]
    """Receives the text after the name."""


def run_command(talk: ChatSession, line: str) -> None:
    """Run the command of a line that starts with a slash. Raises ``LeaveChat``."""
    name, rest = [*line.removeprefix("/").split(maxsplit=1), "", ""][:2]
    command = COMMANDS.get(name.lower())
    if line[1:2].isspace() or command is None:
        talk.screen.warn(
            f"There is no command /{name}; /help lists them. A space before / sends it as text."
        )
        return
    command.run(talk, rest.strip())


def _help(talk: ChatSession, _: str) -> None:
    talk.screen.table([(command.usage, command.description) for command in COMMANDS.values()])
    talk.screen.say(
        "Alt+Enter begins another line, Tab completes; a space before / sends it as text.\n"
        "Ctrl+C stops the turn that runs, Ctrl+D leaves."
    )


def _model(talk: ChatSession, wanted: str) -> None:
    models = talk.backend.models().models
    ready = [model for model in models if model.available]
    if not wanted:
        _list_models(talk, ready, models)
        question = f"Model (number or id; Enter keeps {talk.model}): "
        wanted = talk.screen.ask(question, [model.id for model in models]).strip()
    position = _position(wanted, len(ready))
    if wanted:
        talk.choose(model=wanted if position is None else ready[position].id)
    talk.screen.say(f"Model: {talk.model}")


def _list_models(
    talk: ChatSession, ready: Sequence[ModelInfo], models: Sequence[ModelInfo]
) -> None:
    """List available models, and why the others are unavailable."""
    lines = [
        f"{number:>3}. {model.id} · {model.name}" + (f" · {model.label}" if model.label else "")
        for number, model in enumerate(ready, 1)
    ]
    talk.screen.say("\n".join(lines) or "No model can answer.")
    lacking: dict[str, list[str]] = {}
    for model in models:
        if not model.available:
            lacking.setdefault(model.unavailable_reason or "Not available.", []).append(model.id)
    for reason, names in lacking.items():
        talk.screen.note(f"{', '.join(names)}: {reason}")


def _mode(talk: ChatSession, wanted: str) -> None:
    if not wanted:
        talk.screen.table([(mode, _MODE_TEXTS[mode]) for mode in _MODES.values()])
        wanted = talk.screen.ask("Mode (Enter keeps it): ", list(_MODES)).strip()
    chosen = _MODES.get(wanted)
    if chosen is not None:
        talk.choose(mode=chosen)
    elif wanted:
        talk.screen.warn(f"There is no mode {wanted}; there are {', '.join(_MODES)}.")
    talk.screen.say(f"Mode: {talk.mode or 'as usual'}")


def _new(talk: ChatSession, _: str) -> None:
    talk.new()
    talk.screen.say("Your next message starts a new conversation.")


def _sessions(talk: ChatSession, _: str) -> None:
    sessions = talk.backend.sessions(MAX_LISTED)
    lines = [f"{number:>3}. {_line(session)}" for number, session in enumerate(sessions, 1)]
    talk.screen.say("\n".join(lines) or "No conversations.")


def _open(talk: ChatSession, wanted: str) -> None:
    sessions = talk.backend.sessions(MAX_LISTED)
    position = _position(wanted, len(sessions))
    if not wanted:
        talk.screen.warn("Name a conversation: /open 2, numbered as in /sessions, or its id.")
    else:
        talk.open(wanted if position is None else sessions[position].id)


def _cost(talk: ChatSession, _: str) -> None:
    if talk.session is not None:
        session = talk.backend.session(talk.session.id)
        talk.screen.say(f"This conversation: {_dollars(session.cost_micro_usd)}")
    usage = talk.backend.usage()
    if usage.total is not None:
        unknown = usage.total.unknown_cost_calls
        more = f", and {unknown} calls at unknown prices" if unknown else ""
        talk.screen.say(f"This month: {_dollars(usage.total.known_cost_micro_usd)}{more}")
    if usage.error is not None:
        talk.screen.warn(usage.error.message)


def _tools(talk: ChatSession, _: str) -> None:
    lines = [
        f"{tool.name} ({tool.risk})" + ("" if tool.enabled else " · off")
        for tool in talk.backend.tools()
    ]
    talk.screen.say("\n".join(lines))


def _export(talk: ChatSession, wanted: str) -> None:
    session_id = _current(talk)
    if session_id is None:
        return
    given = wanted or f"{session_id}.md"
    form = FORMATS.get(Path(given).suffix)
    if form is None:
        talk.screen.warn(f"The file name sets the format: {', '.join(FORMATS)}")
        return
    try:
        write_export(given, talk.backend.export(session_id, form))
    except CommandFailed as error:
        talk.screen.warn(str(error))
    else:
        talk.screen.say(f"Written to {given}")


def _compact(talk: ChatSession, _: str) -> None:
    session_id = _current(talk)
    if session_id is not None:
        talk.backend.compact(session_id)
        talk.screen.say("Earlier messages are summarised before the next one is answered.")


def _review(talk: ChatSession, wanted: str) -> None:
    talk.review.show_pending(wanted)


def _keep(talk: ChatSession, wanted: str) -> None:
    talk.review.decide_edits("keep", wanted)


def _undo(talk: ChatSession, wanted: str) -> None:
    if wanted != "turn":
        talk.review.decide_edits("undo", wanted)
    elif (session_id := _current(talk)) is not None:
        talk.undo_turn(session_id)


def _redo(talk: ChatSession, _: str) -> None:
    session_id = _current(talk)
    if session_id is not None:
        talk.redo_turn(session_id)


def _apply(talk: ChatSession, wanted: str) -> None:
    talk.review.decide_proposals("apply", wanted)


def _dismiss(talk: ChatSession, wanted: str) -> None:
    talk.review.decide_proposals("dismiss", wanted)


def _quit(_talk: ChatSession, _: str) -> None:
    raise LeaveChat


def _current(talk: ChatSession) -> SessionId | None:
    if talk.session is None:
        talk.screen.warn("The conversation has not started.")
        return None
    return talk.session.id


def _position(wanted: str, count: int) -> int | None:
    """Return the index for a number that counts from one, None if it is invalid."""
    if not wanted.isascii() or not wanted.isdecimal() or not 1 <= int(wanted) <= count:
        return None
    return int(wanted) - 1


def _line(session: Session) -> str:
    status = "" if session.status == "idle" else f" · {session.status}"
    return f"{session.updated_at[:16]}  {session.title or 'Untitled'}{status} ({session.id})"


def _dollars(micro_usd: int | None) -> str:
    return "unknown" if micro_usd is None else f"${micro_usd / 1_000_000:.4f}"


COMMANDS: Mapping[str, SlashCommand] = {
    "help": SlashCommand("/help", "these lines", _help),
    "model": SlashCommand("/model [ID]", "choose the model", _model),
    "mode": SlashCommand("/mode [MODE]", "choose what may run without asking", _mode),
    "new": SlashCommand("/new", "start another conversation", _new),
    "sessions": SlashCommand("/sessions", "list conversations", _sessions),
    "open": SlashCommand("/open N", "continue one of them, by number or id", _open),
    "review": SlashCommand("/review [N]", "what the agent changed or proposes", _review),
    "keep": SlashCommand("/keep N", "keep a change, or all", _keep),
    "undo": SlashCommand("/undo N", "undo a change, or all, or the last turn: /undo turn", _undo),
    "redo": SlashCommand("/redo", "redo the last turn after /undo turn", _redo),
    "apply": SlashCommand("/apply N", "apply a proposal, or all", _apply),
    "dismiss": SlashCommand("/dismiss N", "dismiss a proposal, or all", _dismiss),
    "cost": SlashCommand("/cost", "what was spent", _cost),
    "tools": SlashCommand("/tools", "what the agent can do", _tools),
    "export": SlashCommand("/export [FILE]", "write it to a file (.md, .jsonl, .ipynb)", _export),
    "compact": SlashCommand("/compact", "have earlier messages summarised", _compact),
    "quit": SlashCommand("/quit", "leave", _quit),
}
