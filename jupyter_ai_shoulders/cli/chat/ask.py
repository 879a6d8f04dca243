"""Asks the user what a turn waits for, and passes the answer on. Made by ``talk``."""

from __future__ import annotations

import json

from jupyter_ai_shoulders.cli.chat.desk import ChatAnswers
from jupyter_ai_shoulders.cli.chat.screen import Screen
from jupyter_ai_shoulders.client.reader import Ask
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.commands import (
    AnswerApproval,
    AnswerInput,
    AnswerQuestion,
    ResumeTurn,
)
from jupyter_ai_shoulders.wire.ids import SessionId

_SCOPES: dict[ev.ApprovalScope, tuple[str, str]] = {
    "once": ("y", "[y]es, once"),
    "document": ("f", "for this [f]ile"),
    "session": ("s", "this conver[s]ation"),
    "always": ("a", "[a]lways"),
}
_DENY = ("n", "[n]o")


class Asker:
    """The user in front of the terminal."""

    def __init__(self, desk: ChatAnswers, screen: Screen, session_id: SessionId) -> None:
        self._desk = desk
        self._screen = screen
        self._session_id = session_id

    def ask(self, asked: Ask) -> None:
        """Ask, and pass the answer on. Raises ``KeyboardInterrupt``, ``EOFError`` at Ctrl+D."""
        match asked:
            case ev.ApprovalRequest():
                command = self._decision(asked)
                self._desk.approve(self._session_id, asked.call_id, command)
            case ev.ClarifyRequest():
                answer = AnswerQuestion(answer=self._answer(asked))
                self._desk.answer(self._session_id, asked.call_id, answer)
            case ev.StdinRequest():
                prompt = asked.prompt or "Input for the running code: "
                typed = self._screen.ask(prompt, password=asked.password)
                self._desk.type_in(self._session_id, asked.call_id, AnswerInput(text=typed))

    def _decision(self, asked: ev.ApprovalRequest) -> AnswerApproval:
        self._screen.say(approval_text(asked))
        ways = ", ".join([*(_SCOPES[scope][1] for scope in asked.scopes), _DENY[1]])
        while True:
            typed = self._screen.ask(f"Allow {asked.tool}? {ways}: ").strip()
            first, _, rest = typed.partition(" ")
            for scope in asked.scopes:
                if first.lower() in {_SCOPES[scope][0], scope} and not rest:
                    return AnswerApproval(decision="allow", scope=scope)
            if first.lower() in {_DENY[0], "no", "deny"}:
                why = rest.strip() or self._screen.ask("Why? The model is told (Enter: no word): ")
                return AnswerApproval(decision="deny", feedback=why.strip() or None)
            self._screen.warn("Type one of the letters; n and a reason refuses with the reason.")

    def _answer(self, asked: ev.ClarifyRequest) -> str | tuple[str, ...]:
        choices = [f"  {number}. {option}" for number, option in enumerate(asked.options, 1)]
        self._screen.say("\n".join([f"? {asked.question}", *choices]))
        how = "Number, or your own words: " if choices else "Your answer: "
        typed = ""
        while not typed:
            typed = self._screen.ask(how).strip()
        return picked(typed, asked)


def approval_text(asked: ev.ApprovalRequest) -> str:
    """Return all that a call would do: why it asks, its exact arguments, what they come to."""
    arguments = json.dumps(asked.arguments, indent=2, ensure_ascii=False)
    lines = [f"? {asked.reason.text}", f"{asked.tool} {arguments}"]
    if asked.preview:
        lines.append(asked.preview)
    if asked.sandboxed is False:
        lines.append("No sandbox holds this command.")
    return "\n".join(lines)


def picked(typed: str, asked: ev.ClarifyRequest) -> str | tuple[str, ...]:
    """Return the options picked by number, else the words as they are."""
    numbers = typed.replace(",", " ").split()
    if not all(each.isascii() and each.isdecimal() for each in numbers):
        return typed
    chosen = {int(each) for each in numbers}
    if not chosen or not chosen <= set(range(1, len(asked.options) + 1)):
        return typed
    if len(chosen) > 1 and not asked.allow_multiple:
        return typed
    return tuple(asked.options[number - 1] for number in sorted(chosen))


def pause_answer(screen: Screen, notice: ev.Notice) -> ResumeTurn | None:
    """Ask what becomes of a turn that paused at a limit; None leaves it as it is."""
    if notice.code == "compaction_ask":
        return resume_answer(screen, "[r]esume with earlier messages summarised, [d]iscard")
    while True:
        typed = screen.ask("New limit in dollars, [d]iscard, or Enter for later: ").strip()
        if typed in {"", "d"}:
            return ResumeTurn(decision="discard") if typed else None
        micro_usd = _micro_usd(typed)
        if micro_usd:
            return ResumeTurn(decision="resume", limit_micro_usd=micro_usd)
        screen.warn(f"{typed} is no amount of dollars.")


def resume_answer(screen: Screen, ways: str = "[r]esume, [d]iscard") -> ResumeTurn | None:
    """Ask what becomes of a turn that was interrupted; None leaves it as it is."""
    while True:
        match screen.ask(f"{ways}, or Enter for later: ").strip().lower():
            case "r" | "resume":
                return ResumeTurn(decision="resume")
            case "d" | "discard":
                return ResumeTurn(decision="discard")
            case "":
                return None
            case _:
                screen.warn("Type r or d, or only Enter.")


def _micro_usd(typed: str) -> int:
    """Return an amount in micro-dollars, 0 where it is none."""
    whole, _, part = typed.removeprefix("$").partition(".")
    digits = whole + part
    if not digits.isascii() or not digits.isdecimal() or len(part) > 6:
        return 0
    return int(f"{whole or 0}{part:0<6}")
