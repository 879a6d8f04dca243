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


def run_command(chat: ChatSession, line: str) -> None:
    """Run the command of a line that starts with a slash. Raises ``LeaveChat``."""
    name, rest = [*line.removeprefix("/").split(maxsplit=1), "", ""][:2]
    command = COMMANDS.get(name.lower())
    if line[1:2].isspace() or command is None:
        chat.screen.warn(
            f"There is no command /{name}; /help lists them. A space before / sends it as text."
        )
        return
    command.run(chat, rest.strip())


def _help(chat: ChatSession, _: str) -> None:
    chat.screen.table([(command.usage, command.description) for command in COMMANDS.values()])
    chat.screen.write_lines(
        "Alt+Enter begins another line, Tab completes; a space before / sends it as text.\n"
        "Ctrl+C stops the turn that runs, Ctrl+D leaves."
    )


def _model(chat: ChatSession, argument: str) -> None:
    models = chat.backend.models().models
    ready = [model for model in models if model.available]
    if not argument:
        _list_models(chat, ready, models)
        question = f"Model (number or id; Enter keeps {chat.model}): "
        argument = chat.screen.ask(question, [model.id for model in models]).strip()
    position = _position(argument, len(ready))
    if argument:
        chat.choose(model=argument if position is None else ready[position].id)
    chat.screen.write_lines(f"Model: {chat.model}")


def _list_models(
    chat: ChatSession, ready: Sequence[ModelInfo], models: Sequence[ModelInfo]
) -> None:
    """List available models, and why the others are unavailable."""
    lines = [
        f"{number:>3}. {model.id} · {model.name}" + (f" · {model.label}" if model.label else "")
        for number, model in enumerate(ready, 1)
    ]
    chat.screen.write_lines("\n".join(lines) or "No model can answer.")
    lacking: dict[str, list[str]] = {}
    for model in models:
        if not model.available:
            lacking.setdefault(model.unavailable_reason or "Not available.", []).append(model.id)
    for reason, names in lacking.items():
        chat.screen.note(f"{', '.join(names)}: {reason}")


def _mode(chat: ChatSession, argument: str) -> None:
    if not argument:
        chat.screen.table([(mode, _MODE_TEXTS[mode]) for mode in _MODES.values()])
        argument = chat.screen.ask("Mode (Enter keeps it): ", list(_MODES)).strip()
    chosen = _MODES.get(argument)
    if chosen is not None:
        chat.choose(mode=chosen)
    elif argument:
        chat.screen.warn(f"There is no mode {argument}; there are {', '.join(_MODES)}.")
    chat.screen.write_lines(f"Mode: {chat.mode or 'as usual'}")


def _new(chat: ChatSession, _: str) -> None:
    chat.new()
    chat.screen.write_lines("Your next message starts a new conversation.")


def _sessions(chat: ChatSession, _: str) -> None:
    sessions = chat.backend.sessions(MAX_LISTED)
    lines = [f"{number:>3}. {_line(session)}" for number, session in enumerate(sessions, 1)]
    chat.screen.write_lines("\n".join(lines) or "No conversations.")


def _open(chat: ChatSession, argument: str) -> None:
    sessions = chat.backend.sessions(MAX_LISTED)
    position = _position(argument, len(sessions))
    if not argument:
        chat.screen.warn("Name a conversation: /open 2, numbered as in /sessions, or its id.")
    else:
        chat.open(argument if position is None else sessions[position].id)


def _cost(chat: ChatSession, _: str) -> None:
    if chat.session is not None:
        session = chat.backend.session(chat.session.id)
        chat.screen.write_lines(f"This conversation: {_dollars(session.cost_micro_usd)}")
    usage = chat.backend.usage()
    if usage.total is not None:
        unknown = usage.total.unknown_cost_calls
        more = f", and {unknown} calls at unknown prices" if unknown else ""
        chat.screen.write_lines(f"This month: {_dollars(usage.total.known_cost_micro_usd)}{more}")
    if usage.error is not None:
        chat.screen.warn(usage.error.message)


def _tools(chat: ChatSession, _: str) -> None:
    lines = [
        f"{tool.name} ({tool.risk})" + ("" if tool.enabled else " · off")
        for tool in chat.backend.tools()
    ]
    chat.screen.write_lines("\n".join(lines))


def _export(chat: ChatSession, argument: str) -> None:
    session_id = _current(chat)
    if session_id is None:
        return
    given = argument or f"{session_id}.md"
    form = FORMATS.get(Path(given).suffix)
    if form is None:
        chat.screen.warn(f"The file name sets the format: {', '.join(FORMATS)}")
        return
    try:
        write_export(given, chat.backend.export(session_id, form))
    except CommandFailed as error:
        chat.screen.warn(str(error))
    else:
        chat.screen.write_lines(f"Written to {given}")


def _compact(chat: ChatSession, _: str) -> None:
    session_id = _current(chat)
    if session_id is not None:
        chat.backend.compact(session_id)
        chat.screen.write_lines("Earlier messages are summarised before the next one is answered.")


def _review(chat: ChatSession, argument: str) -> None:
    chat.review.show_pending(argument)


def _keep(chat: ChatSession, argument: str) -> None:
    chat.review.decide_edits("keep", argument)


def _undo(chat: ChatSession, argument: str) -> None:
    if argument != "turn":
        chat.review.decide_edits("undo", argument)
    elif (session_id := _current(chat)) is not None:
        chat.undo_turn(session_id)


def _redo(chat: ChatSession, _: str) -> None:
    session_id = _current(chat)
    if session_id is not None:
        chat.redo_turn(session_id)


def _apply(chat: ChatSession, argument: str) -> None:
    chat.review.decide_proposals("apply", argument)


def _dismiss(chat: ChatSession, argument: str) -> None:
    chat.review.decide_proposals("dismiss", argument)


def _quit(_chat: ChatSession, _: str) -> None:
    raise LeaveChat


def _current(chat: ChatSession) -> SessionId | None:
    if chat.session is None:
        chat.screen.warn("The conversation has not started.")
        return None
    return chat.session.id


def _position(argument: str, count: int) -> int | None:
    """Return the index for a number that counts from one, None if it is invalid."""
    if not argument.isascii() or not argument.isdecimal() or not 1 <= int(argument) <= count:
        return None
    return int(argument) - 1


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
