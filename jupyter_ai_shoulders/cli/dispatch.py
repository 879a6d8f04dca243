"""``jupyter shoulders``: reads the command line, chooses the engine, runs the command.

Called by ``main``, which reports an interrupt.
"""

from __future__ import annotations

import argparse
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from jupyter_ai_shoulders.cli import list_commands
from jupyter_ai_shoulders.cli.arguments import EVAL, parser
from jupyter_ai_shoulders.cli.backend import Backend
from jupyter_ai_shoulders.cli.backend_selection import BackendOptions, choose_backend
from jupyter_ai_shoulders.cli.doctor.command import doctor
from jupyter_ai_shoulders.cli.errors import CommandFailed
from jupyter_ai_shoulders.cli.exit_codes import ExitCode, exit_code_for_error
from jupyter_ai_shoulders.cli.folder_trust import trust_or_report_folder
from jupyter_ai_shoulders.cli.output import write_error
from jupyter_ai_shoulders.cli.report import report
from jupyter_ai_shoulders.cli.run import run
from jupyter_ai_shoulders.client.errors import ClientError, Refused, describe_error
from jupyter_ai_shoulders.core.errors import ShouldersError

Command = Callable[[Backend, argparse.Namespace], ExitCode]


def _chat(backend: Backend, options: argparse.Namespace) -> ExitCode:
    from jupyter_ai_shoulders.cli.chat.chat_command import (
        chat,  # only this command needs its library
    )

    return chat(backend, options)


COMMANDS: Mapping[str, Command] = {
    "chat": _chat,
    "run": run,
    "search": list_commands.search,
    "sessions": list_commands.sessions,
    "export": list_commands.export,
    "usage": list_commands.usage,
    "report": report,
    "models": list_commands.models,
    "memory": list_commands.memory,
    "keys": list_commands.keys,
}


def _acp(options: argparse.Namespace, wanted: BackendOptions) -> ExitCode:
    from jupyter_ai_shoulders.cli.acp.command import serve_editor

    del options
    return serve_editor(wanted)


def _mcp(options: argparse.Namespace, wanted: BackendOptions) -> ExitCode:
    from jupyter_ai_shoulders.cli.mcp.command import mcp

    return mcp(options, wanted)


def _schedule(options: argparse.Namespace, wanted: BackendOptions) -> ExitCode:
    from jupyter_ai_shoulders.cli.schedules.command import schedule

    return schedule(options, wanted)


def _doctor(options: argparse.Namespace, wanted: BackendOptions) -> ExitCode:
    return doctor(wanted, as_json=options.json)


_WITHOUT_BACKEND: Mapping[str, Callable[[argparse.Namespace, BackendOptions], ExitCode]] = {
    "acp": _acp,
    "doctor": _doctor,
    "mcp": _mcp,
    "schedule": _schedule,
}
"""Commands that choose their engines themselves."""


def run_command_line(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code (``exit_codes``). Raises ``KeyboardInterrupt``."""
    words = list(arguments)
    if words[:1] == [EVAL]:
        from jupyter_ai_shoulders.evaluation.__main__ import main as evaluate

        return evaluate(words[1:])
    reader = parser()
    options = reader.parse_args(words)
    if options.command == "keys" and options.action != "list" and not options.provider:
        reader.error(f"keys {options.action}: name a provider")
    if options.command == "memory" and (options.action == "list") != (options.what is None):
        reader.error(f"memory {options.action}: give what add and forget need, and nothing else")
    logging.getLogger("jupyter_ai_shoulders").addHandler(logging.NullHandler())
    wanted = BackendOptions(Path(options.workspace), options.url, options.token, options.no_server)
    try:
        if options.command in _WITHOUT_BACKEND:
            return _WITHOUT_BACKEND[options.command](options, wanted)
        with closing(choose_backend(wanted)) as backend:
            if options.command in {"run", "chat"}:
                trust_or_report_folder(backend, trust_folder=options.trust_folder)
            return COMMANDS[options.command](backend, options)
    except BrokenPipeError:  # the reader has closed our output; the run is not finished then
        return ExitCode.ERROR if options.command == "run" else ExitCode.OK
    except (CommandFailed, ClientError, ShouldersError) as error:
        return _failed(error)


def _failed(error: CommandFailed | ClientError | ShouldersError) -> ExitCode:
    """Print the error; return its code."""
    message, code = str(error), ExitCode.ERROR
    if isinstance(error, CommandFailed):
        code = error.code
    elif isinstance(error, Refused):
        code = exit_code_for_error(error.info.code)
    elif isinstance(error, ShouldersError):
        message, code = describe_error(error.info), exit_code_for_error(error.info.code)
    write_error(f"jupyter shoulders: {message}\n")
    return code
