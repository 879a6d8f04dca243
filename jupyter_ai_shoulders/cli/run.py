"""``jupyter shoulders run``: a turn without a user to ask. Called by ``dispatch``."""

from __future__ import annotations

import argparse
import sys

from jupyter_ai_shoulders.cli.backend import Backend, RunOutcome, RunRequest
from jupyter_ai_shoulders.cli.backend_selection import resolve_document
from jupyter_ai_shoulders.cli.errors import UsageError
from jupyter_ai_shoulders.cli.event_printer import JsonPrinter, Printer
from jupyter_ai_shoulders.cli.exit_codes import ExitCode, exit_code_for_turn
from jupyter_ai_shoulders.cli.output import write_error
from jupyter_ai_shoulders.client.turn import failure_text, waiting_text


def run(backend: Backend, options: argparse.Namespace) -> ExitCode:
    """Run a turn; its answer goes to standard output."""
    request = build_request(backend, options)
    quiet: bool = options.quiet
    if options.json:
        outcome = backend.run(request, JsonPrinter().take)
    else:
        outcome = backend.run(request, Printer(quiet=quiet).take)
    code = exit_code_for_turn(outcome.answer, outcome.waits_for)
    if last := closing_message(outcome, code):
        write_error(f"{last}\n")
    return code


def build_request(backend: Backend, options: argparse.Namespace) -> RunRequest:
    """Return the request of the command line. Raises ``UsageError``."""
    prompt: str = sys.stdin.read() if options.prompt == "-" else options.prompt
    if not prompt.strip():
        raise UsageError("The prompt is empty.")
    document = (
        None if options.notebook is None else resolve_document(backend.workspace, options.notebook)
    )
    return RunRequest(
        prompt=prompt,
        document=document,
        model=options.model,
        mode=options.mode,
        toolset=options.toolset,
        session=options.session,
    )


def closing_message(outcome: RunOutcome, code: ExitCode) -> str:
    """Return additional information for the user: a summary, a question, an error."""
    answer = outcome.answer
    if outcome.waits_for is not None:
        return f"{waiting_text(outcome.waits_for)} (conversation {answer.session_id})"
    match code:
        case ExitCode.OK:
            return answer.summary or ""
        case ExitCode.QUESTION:
            go_on = f'jupyter shoulders run --session {answer.session_id} "your answer"'
            return f"The model asks: {answer.question}\nAnswer with: {go_on}"
        case ExitCode.REJECTED if answer.denied:
            return (
                "Something needed your approval, and nobody could be asked. --mode auto_edit lets "
                "undoable edits run, --mode bypass everything; rules in .shoulders/tools.json "
                "allow single tools."
            )
        case ExitCode.STEPS:
            return "The step limit was reached; run again with --session to continue: " + (
                answer.session_id
            )
        case _:
            return failure_text(answer)
