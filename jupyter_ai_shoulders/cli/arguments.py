"""The arguments of ``jupyter shoulders``. Called by ``dispatch``."""

from __future__ import annotations

import argparse
from typing import Protocol, get_args

from jupyter_ai_shoulders.cli.backend import ExportFormat
from jupyter_ai_shoulders.cli.mcp.client_entries import CLIENTS
from jupyter_ai_shoulders.cli.schedules.arguments import add_arguments as add_schedule_arguments
from jupyter_ai_shoulders.wire.api.access_tokens import ALL_SCOPES
from jupyter_ai_shoulders.wire.api.agent_data.memory import MemoryScope
from jupyter_ai_shoulders.wire.api.search import DocumentKind
from jupyter_ai_shoulders.wire.sessions import Mode, SessionKind, Toolset
from jupyter_ai_shoulders.wire.usage import UsageBy

_EPILOG = """\
exit codes: 0 final answer or complete · 1 error · 2 usage · 3 rejected or approval required ·
4 budget · 5 context overflow · 6 step cap · 7 question pending · 130 cancelled
"""

MAX_LISTED = 500
"""Maximum conversations listed; the server's limit."""

EVAL = "eval"
"""Has its own command line (``evaluation``)."""


class _Commands(Protocol):
    def add_parser(
        self,
        name: str,
        *,
        help: str,  # noqa: A002 argparse's word
        description: str,
    ) -> argparse.ArgumentParser: ...


def parser() -> argparse.ArgumentParser:
    """Return the parser."""
    top = argparse.ArgumentParser(
        prog="jupyter shoulders",
        description="The AI colleague of Jupyter in a terminal. It attaches to the server that "
        "serves the workspace, or starts the engine itself.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", metavar="command", required=True)
    _add_chat(commands)
    _add_run(commands)
    _add_search(commands)
    _add_lists(commands)
    _add_memory(commands)
    _add_keys(commands)
    _add_mcp(commands)
    add_schedule_arguments(
        _command(commands, "schedule", "run notebooks and prompts at times, without you")
    )
    _command(commands, "acp", "run the agent for an editor on standard input and output (ACP)")
    commands.add_parser(
        EVAL,
        help="run the evaluation of the agent; eval --help lists its options",
        description="Run the evaluation.",
    )
    doctor = _command(commands, "doctor", "check the installation, and say what to do")
    doctor.add_argument("--json", action="store_true", help="as JSON")
    return top


def _command(commands: _Commands, name: str, about: str) -> argparse.ArgumentParser:
    made = commands.add_parser(name, help=about, description=about.capitalize() + ".")
    made.add_argument("--workspace", default=".", metavar="DIR", help="default: this folder")
    made.add_argument("--url", help="of a server to attach to")
    made.add_argument(
        "--token",
        help="of that server; better in SHOULDERS_TOKEN: other programs can read command lines",
    )
    made.add_argument("--no-server", action="store_true", help="do not attach to a server")
    return made


def _add_trust(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--trust-folder",
        action="store_true",
        help="accept the AI settings this folder brings: rules, model servers, instructions",
    )


def _add_chat(commands: _Commands) -> None:
    chat = _command(commands, "chat", "talk in this terminal; /help there lists commands")
    chat.add_argument("--session", metavar="ID", help="continue a conversation")
    _add_trust(chat)
    chat.add_argument("--model", metavar="ID")
    chat.add_argument("--mode", choices=get_args(Mode), help="what may run without asking")


def _add_run(commands: _Commands) -> None:
    run = _command(commands, "run", "do one task without asking, and print the answer")
    run.add_argument("prompt", help="what to do; - reads it from standard input")
    run.add_argument("--notebook", metavar="FILE", help="the notebook or file it is about")
    _add_trust(run)
    run.add_argument("--model", metavar="ID")
    run.add_argument("--mode", choices=get_args(Mode), help="what may run without asking")
    run.add_argument("--toolset", choices=get_args(Toolset))
    run.add_argument("--session", metavar="ID", help="continue a conversation")
    run.add_argument("--json", action="store_true", help="events as lines of JSON")
    run.add_argument("--quiet", action="store_true", help="only the answer")


def _add_search(commands: _Commands) -> None:
    search = _command(commands, "search", "find cells, definitions and sections of the workspace")
    search.add_argument("query", nargs="+", help="words; parts of identifiers are found, too")
    search.add_argument("--path", default="", help="a file or folder to search in")
    search.add_argument("--kind", choices=get_args(DocumentKind))
    search.add_argument("--limit", type=_count, default=20)
    search.add_argument("--json", action="store_true", help="as JSON")


def _add_lists(commands: _Commands) -> None:
    sessions = _command(commands, "sessions", "list conversations")
    sessions.add_argument("--kind", choices=get_args(SessionKind))
    sessions.add_argument("--text", help="only those with this text")
    sessions.add_argument("--limit", type=_count, default=20)
    export = _command(commands, "export", "print a conversation")
    export.add_argument("session", metavar="ID")
    export.add_argument("--format", choices=get_args(ExportFormat), help="default: md")
    export.add_argument(
        "-o", "--output", metavar="FILE", help="write it there, whole or not at all"
    )
    usage = _command(commands, "usage", "show what was used and spent this month")
    usage.add_argument("--by", choices=get_args(UsageBy), default="model")
    models = _command(commands, "models", "list models, and why some cannot answer")
    report = _command(commands, "report", "show how well turns and tools worked, and what failed")
    report.add_argument("--days", type=_count, default=7, help="including today; default: 7")
    for each in (sessions, usage, report, models):
        each.add_argument("--json", action="store_true", help="as JSON")


def _add_memory(commands: _Commands) -> None:
    memory = _command(commands, "memory", "show, add or forget what is remembered")
    memory.add_argument("action", choices=("list", "add", "forget"), nargs="?", default="list")
    memory.add_argument("what", nargs="?", help="add: the statement; forget: its id")
    memory.add_argument(
        "--scope", choices=get_args(MemoryScope), default="person", help="add: default: person"
    )
    memory.add_argument("--json", action="store_true", help="as JSON")


def _add_keys(commands: _Commands) -> None:
    keys = _command(commands, "keys", "show, set, remove or test keys of providers")
    keys.add_argument(
        "action", choices=("list", "set", "remove", "test"), nargs="?", default="list"
    )
    keys.add_argument("provider", nargs="?")


def _add_mcp(commands: _Commands) -> None:
    mcp = _command(
        commands, "mcp", "serve the notebook tools to other agents on standard input and output"
    )
    mcp.add_argument("action", nargs="?", choices=("config",), help="print what a client needs")
    mcp.add_argument("client", nargs="?", choices=CLIENTS, help="the client, for config")
    mcp.add_argument("--http", action="store_true", help="config: by address instead of a command")
    mcp.add_argument(
        "--scope",
        action="append",
        default=[],
        choices=ALL_SCOPES,
        help="what the client may do, repeatable; default: all",
    )
    mcp.add_argument(
        "--mode", choices=get_args(Mode), help="without a server: what may run without asking"
    )


def _count(text: str) -> int:
    """Return a number of list entries. Raises what argparse shows."""
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= MAX_LISTED:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to {MAX_LISTED}")
    return int(text)
