"""``jupyter shoulders chat``: a conversation in a terminal. Called by ``program``."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from jupyter_ai_shoulders.cli.chat.commands import COMMANDS, LISTED, run_command
from jupyter_ai_shoulders.cli.chat.desk import ChatDesk
from jupyter_ai_shoulders.cli.chat.screen import Screen
from jupyter_ai_shoulders.cli.chat.talk import Leave, Talk, error_text
from jupyter_ai_shoulders.cli.demo import failing_model
from jupyter_ai_shoulders.cli.desk import Desk
from jupyter_ai_shoulders.cli.errors import WrongUse
from jupyter_ai_shoulders.cli.exits import Code
from jupyter_ai_shoulders.client.errors import ClientError, told
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.wire.ids import SessionId

PROMPT = "> "
_WORDS = tuple(f"/{name}" for name in COMMANDS)


def chat(desk: Desk, options: argparse.Namespace) -> Code:
    """Talk until the user leaves. Raises ``WrongUse``, ``ClientError``, ``ShouldersError``."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise WrongUse("chat needs a terminal. In scripts: jupyter shoulders run")
    with closing(desk.chat()) as engine:
        if options.model is not None:
            _check(engine, options.model)
        screen = Screen()
        talk = Talk(engine, screen, options.model, options.mode)
        if options.session is not None:
            talk.session = engine.session(SessionId(options.session))
            talk.choose(options.model, options.mode)
        return _talk(talk)


def _talk(talk: Talk) -> Code:
    greeted = interrupted = False
    while True:
        try:
            if not greeted:
                greeted = True
                _greet(talk)
                _begin(talk)
            line = talk.screen.read(PROMPT, _WORDS)
            interrupted = False
            _take(talk, line)
        except Leave as left:
            return left.code
        except EOFError:
            return Code.OK
        except KeyboardInterrupt:
            if interrupted:
                return Code.CANCELLED
            interrupted = True
            talk.screen.say("Ctrl+C again, or Ctrl+D, leaves.")
        except (ClientError, ShouldersError) as error:
            talk.screen.warn(error_text(error))


def _take(talk: Talk, line: str) -> None:
    if line.startswith("/"):
        run_command(talk, line.strip())
    elif line.strip():
        talk.say(line)


def _check(engine: ChatDesk, model: str) -> None:
    known = [each.id for each in engine.models().models]
    if model not in known:
        raise WrongUse(f"There is no model {model!r}; jupyter shoulders models lists them.")


def _greet(talk: Talk) -> None:
    models = talk.desk.models()
    label = next((each.label for each in models.models if each.id == talk.model), None)
    name = label or talk.model or "no model is set up: jupyter shoulders keys"
    talk.screen.say(f"Jupyter AI colleague · {name} · /help · Ctrl+D leaves", "bold")
    failing = failing_model(models)
    if failing is not None:
        talk.screen.warn(f"{failing[0]} cannot answer. {told(failing[1])}")


def _begin(talk: Talk) -> None:
    """Open the conversation that was named, or the last one here whose turn was interrupted.

    A turn that still runs or waits may be another terminal's: it is only named.
    """
    if talk.session is not None:
        talk.open(talk.session.id)
        return
    left = [each for each in talk.desk.sessions(LISTED) if each.source == "cli"]
    interrupted = next((each for each in left if each.status == "interrupted"), None)
    if interrupted is not None:
        talk.open(interrupted.id)
        return
    talk.review.announce()
    for each in left:
        if each.status in {"running", "waiting"}:
            talk.screen.note(f"{each.title or 'Untitled'} ({each.status}): /open {each.id}")
