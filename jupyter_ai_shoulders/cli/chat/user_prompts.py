"""Asks the user for decisions of a turn and passes them on. Made by ``chat_session``."""

from __future__ import annotations

import json

from jupyter_ai_shoulders.cli.chat.chat_backend import ChatAnswers
from jupyter_ai_shoulders.cli.chat.exact_output import show_lines
from jupyter_ai_shoulders.cli.chat.terminal import TerminalScreen
from jupyter_ai_shoulders.client.approval_text import always_line, effects_line
from jupyter_ai_shoulders.client.wire_models import Question
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import (
    AnswerApproval,
    AnswerInput,
    AnswerQuestion,
    ResumeTurn,
)
from jupyter_ai_shoulders.wire.ids import SessionId

_SCOPES: dict[ev.ApprovalScope, tuple[str, str]] = {
    "once": ("y", "[y]es once"),
    "document": ("f", "for this [f]ile"),
    "session": ("s", "for this conver[s]ation"),
    "always": ("a", "[a]lways"),
}
_DENY = ("n", "[n]o")
_VIEW = ("v", "[v]iew all of it")


class UserPrompter:
    """Asks the user of the terminal."""

    def __init__(self, backend: ChatAnswers, screen: TerminalScreen, session_id: SessionId) -> None:
        self._backend = backend
        self._screen = screen
        self._session_id = session_id

    def ask(self, question: Question) -> None:
        """Ask, and pass the answer on. Raises ``KeyboardInterrupt``, ``EOFError`` at Ctrl+D."""
        match question:
            case ev.ApprovalRequest():
                command = self._decision(question)
                self._backend.approve(self._session_id, question.call_id, command)
            case ev.ClarifyRequest():
                answer = AnswerQuestion(answer=self._answer(question))
                self._backend.answer(self._session_id, question.call_id, answer)
            case ev.StdinRequest():
                prompt = question.prompt or "Input for the running code: "
                typed = self._screen.ask(prompt, password=question.password)
                self._backend.type_in(self._session_id, question.call_id, AnswerInput(text=typed))

    def _decision(self, question: ev.ApprovalRequest) -> AnswerApproval:
        whole = self._show_call(question, cut=True)
        ways = [*(_SCOPES[scope][1] for scope in question.scopes), _DENY[1], *_view(whole)]
        prompt = f"Allow {question.tool}? {' · '.join(ways)}: "
        while True:
            typed = self._screen.ask(prompt).strip()
            first, _, rest = typed.partition(" ")
            for scope in question.scopes:
                if first.lower() in {_SCOPES[scope][0], scope} and not rest:
                    return AnswerApproval(decision="allow", scope=scope)
            if first.lower() in {_DENY[0], "no", "deny"}:
                why = rest.strip() or self._screen.ask("What to do instead? (Enter: stop here) ")
                return AnswerApproval(decision="deny", feedback=why.strip() or None)
            if first.lower() == _VIEW[0] and not whole:
                self._show_call(question, cut=False)
            else:
                self._screen.warn(
                    "Type one of the letters; n and a reason refuses with the reason."
                )

    def _show_call(self, question: ev.ApprovalRequest, *, cut: bool) -> bool:
        """Show what a call would do; return whether all of it was shown."""
        self._screen.write_lines(f"? {question.reason.text}", "bold")
        whole = show_lines(self._screen, call_text(question), {}, cut=cut)
        whole = show_lines(self._screen, question.preview or "", cut=cut) and whole
        effects = effects_line(question)
        if effects is not None:
            self._screen.write_lines(effects, "bold")
        if "always" in question.scopes:
            self._screen.write_lines(f"Always allows: {always_line(question)}")
        return whole

    def _answer(self, question: ev.ClarifyRequest) -> str | tuple[str, ...]:
        choices = [f"  {number}. {option}" for number, option in enumerate(question.options, 1)]
        self._screen.write_lines(f"? {question.question}", "bold")
        if choices:
            self._screen.write_lines("\n".join(choices))
        number = "Numbers" if question.allow_multiple else "Number"
        how = f"{number}, or your own words: " if choices else "Your answer: "
        typed = ""
        while not typed:
            typed = self._screen.ask(how).strip()
        return parse_choice(typed, question)


def call_text(question: ev.ApprovalRequest) -> str:
    """Return a call with its exact arguments."""
    return f"{question.tool} {json.dumps(question.arguments, indent=2, ensure_ascii=False)}"


def _view(whole: bool) -> tuple[str, ...]:
    return () if whole else (_VIEW[1],)


def parse_choice(typed: str, question: ev.ClarifyRequest) -> str | tuple[str, ...]:
    """Return the options picked by number, else the text verbatim."""
    numbers = typed.replace(",", " ").split()
    if not all(each.isascii() and each.isdecimal() for each in numbers):
        return typed
    chosen = {int(each) for each in numbers}
    if not chosen or not chosen <= set(range(1, len(question.options) + 1)):
        return typed
    if len(chosen) > 1 and not question.allow_multiple:
        return typed
    return tuple(question.options[number - 1] for number in sorted(chosen))


def pause_answer(screen: TerminalScreen, notice: ev.Notice) -> ResumeTurn | None:
    """Ask whether to continue a turn that paused at a limit; None leaves it paused."""
    if notice.code == "compaction_ask":
        return resume_answer(screen, "[r]esume with earlier messages summarised, [d]iscard")
    while True:
        typed = screen.ask("New limit in dollars, [d]iscard, or Enter for later: ").strip()
        if typed in {"", "d"}:
            return ResumeTurn(decision="discard") if typed else None
        micro_usd = _micro_usd(typed)
        if micro_usd:
            return ResumeTurn(decision="resume", limit_micro_usd=micro_usd)
        screen.warn(f"{typed} is not an amount in dollars.")


def resume_answer(
    screen: TerminalScreen, ways: str = "The turn was interrupted: [r]esume, [d]iscard"
) -> ResumeTurn | None:
    """Ask whether to continue an interrupted turn; None leaves it interrupted."""
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
    """Return an amount in micro-dollars, 0 if it is invalid."""
    whole, _, part = typed.removeprefix("$").partition(".")
    digits = whole + part
    if not digits.isascii() or not digits.isdecimal() or len(part) > 6:
        return 0
    return int(f"{whole or 0}{part:0<6}")
