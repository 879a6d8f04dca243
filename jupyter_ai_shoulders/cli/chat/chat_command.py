"""``jupyter shoulders chat``: a conversation in a terminal. Called by ``dispatch``."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from jupyter_ai_shoulders.cli.backend import Backend
from jupyter_ai_shoulders.cli.chat.chat_backend import ChatBackend
from jupyter_ai_shoulders.cli.chat.chat_session import ChatSession, LeaveChat, error_text
from jupyter_ai_shoulders.cli.chat.slash_commands import COMMANDS, MAX_LISTED, run_command
from jupyter_ai_shoulders.cli.chat.terminal import TerminalScreen
from jupyter_ai_shoulders.cli.default_model import failing_model
from jupyter_ai_shoulders.cli.errors import UsageError
from jupyter_ai_shoulders.cli.exit_codes import ExitCode
from jupyter_ai_shoulders.client.errors import ClientError, describe_error
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.wire.ids import SessionId

PROMPT = "> "
_WORDS = tuple(f"/{name}" for name in COMMANDS)


def chat(backend: Backend, options: argparse.Namespace) -> ExitCode:
    """Chat until the user leaves. Raises ``UsageError``, ``ClientError``, ``ShouldersError``."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError("chat needs a terminal. In scripts: jupyter shoulders run")
    with closing(backend.chat()) as engine:
        if options.model is not None:
            _check(engine, options.model)
        screen = TerminalScreen()
        session = ChatSession(engine, screen, options.model, options.mode)
        if options.session is not None:
            session.session = engine.session(SessionId(options.session))
            session.choose(options.model, options.mode)
        return _run(session)


def _run(session: ChatSession) -> ExitCode:
    greeted = interrupted = False
    while True:
        try:
            if not greeted:
                greeted = True
                _greet(session)
                _open_session(session)
            line = session.screen.read(PROMPT, _WORDS)
            interrupted = False
            _handle_line(session, line)
        except LeaveChat as left:
            return left.code
        except EOFError:
            return ExitCode.OK
        except KeyboardInterrupt:
            if interrupted:
                return ExitCode.CANCELLED
            interrupted = True
            session.screen.write_lines("Ctrl+C again, or Ctrl+D, leaves.")
        except (ClientError, ShouldersError) as error:
            session.screen.warn(error_text(error))


def _handle_line(session: ChatSession, line: str) -> None:
    if line.startswith("/"):
        run_command(session, line.strip())
    elif line.strip():
        session.send(line)


def _check(engine: ChatBackend, model: str) -> None:
    known = [each.id for each in engine.models().models]
    if model not in known:
        raise UsageError(f"There is no model {model!r}; jupyter shoulders models lists them.")


def _greet(session: ChatSession) -> None:
    models = session.backend.models()
    label = next((each.label for each in models.models if each.id == session.model), None)
    name = label or session.model or "no model is set up: jupyter shoulders keys"
    session.screen.write_lines(f"Jupyter AI colleague · {name} · /help · Ctrl+D leaves", "bold")
    failing = failing_model(models)
    if failing is not None:
        session.screen.warn(f"{failing[0]} cannot answer. {describe_error(failing[1])}")


def _open_session(session: ChatSession) -> None:
    """Open the named conversation, or the last one of the command line with an interrupted turn.

    A turn that runs or waits may belong to another terminal, so it is only named.
    """
    if session.session is not None:
        session.open(session.session.id)
        return
    left = [each for each in session.backend.sessions(MAX_LISTED) if each.source == "cli"]
    interrupted = next((each for each in left if each.status == "interrupted"), None)
    if interrupted is not None:
        session.open(interrupted.id)
        return
    session.review.announce()
    for each in left:
        if each.status in {"running", "waiting"}:
            session.screen.note(f"{each.title or 'Untitled'} ({each.status}): /open {each.id}")
