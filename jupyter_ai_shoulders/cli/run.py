"""``jupyter shoulders run``: a turn without anybody to ask. Called by ``program``."""

from __future__ import annotations

import argparse
import sys

from jupyter_ai_shoulders.cli.desk import Desk, Outcome, RunRequest
from jupyter_ai_shoulders.cli.errors import WrongUse
from jupyter_ai_shoulders.cli.exits import Code, of_turn
from jupyter_ai_shoulders.cli.output import write_error
from jupyter_ai_shoulders.cli.place import document_in
from jupyter_ai_shoulders.cli.printer import JsonPrinter, Printer
from jupyter_ai_shoulders.client.turn import failure_text, waiting_text


def run(desk: Desk, options: argparse.Namespace) -> Code:
    """Do what is asked; the answer goes to standard output."""
    request = request_of(desk, options)
    quiet: bool = options.quiet
    if options.json:
        outcome = desk.run(request, JsonPrinter().take)
    else:
        outcome = desk.run(request, Printer(quiet=quiet).take)
    code = of_turn(outcome.answer, outcome.waits_for)
    if last := last_words(outcome, code):
        write_error(f"{last}\n")
    return code


def request_of(desk: Desk, options: argparse.Namespace) -> RunRequest:
    """Return what the command line asks for. Raises ``WrongUse``."""
    prompt: str = sys.stdin.read() if options.prompt == "-" else options.prompt
    if not prompt.strip():
        raise WrongUse("The prompt is empty.")
    document = None if options.notebook is None else document_in(desk.workspace, options.notebook)
    return RunRequest(
        prompt=prompt,
        document=document,
        model=options.model,
        mode=options.mode,
        toolset=options.toolset,
        session=options.session,
    )


def last_words(outcome: Outcome, code: Code) -> str:
    """Return what else a user must know: a summary, a question, why it failed."""
    answer = outcome.answer
    if outcome.waits_for is not None:
        return f"{waiting_text(outcome.waits_for)} (conversation {answer.session_id})"
    match code:
        case Code.OK:
            return answer.summary or ""
        case Code.QUESTION:
            go_on = f'jupyter shoulders run --session {answer.session_id} "your answer"'
            return f"The model asks: {answer.question}\nAnswer with: {go_on}"
        case Code.REJECTED if answer.denied:
            return (
                "Something needed your approval, and nobody could be asked. --mode auto_edit lets "
                "undoable edits run, --mode bypass everything; rules in .shoulders/tools.json "
                "allow single tools."
            )
        case Code.STEPS:
            return "The step limit was reached; run again with --session to continue: " + (
                answer.session_id
            )
        case _:
            return failure_text(answer)
