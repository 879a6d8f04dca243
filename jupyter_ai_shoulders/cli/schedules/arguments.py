"""The arguments of ``jupyter shoulders schedule``, and the requests that they mean."""

from __future__ import annotations

import argparse
import re
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError

from jupyter_ai_shoulders.cli.backend_selection import resolve_document
from jupyter_ai_shoulders.cli.errors import UsageError
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    CronTrigger,
    IntervalTrigger,
    Missed,
    OnceTrigger,
    OnQuestion,
    PostSchedule,
    Trigger,
)
from jupyter_ai_shoulders.wire.sessions import Mode, Toolset

ACTIONS = ("add", "list", "show", "pause", "resume", "run", "delete", "runs")
_UNITS = {"m": 60, "min": 60, "h": 3_600, "d": 86_400}
_SPAN = re.compile(r"([1-9][0-9]{0,6})(m|min|h|d)")
_OPTIONS = ("title", "prompt", "output", "model", "mode", "toolset", "on_question", "missed")


def add_arguments(command: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    command.add_argument("action", choices=ACTIONS, nargs="?", default="list")
    command.add_argument("id", nargs="?", help="of a schedule, for all actions but add and list")
    when = command.add_argument_group("add: when").add_mutually_exclusive_group()
    when.add_argument("--at", metavar="TIME", help="once, such as 2026-11-29T09:00 (local time)")
    when.add_argument("--every", metavar="SPAN", help="at an interval: 30min, 2h, 1d")
    when.add_argument("--cron", metavar="EXPR", help='such as "0 9 * * MON-FRI"; with --time-zone')
    command.add_argument("--time-zone", metavar="ZONE", help="of --cron, such as Europe/Berlin")
    what = command.add_argument_group("add: what")
    what.add_argument("--notebook", metavar="FILE", help="run it from top to bottom")
    what.add_argument("--output", choices=("in_place", "copy"), help="where its outputs go")
    what.add_argument("--prompt", help="the message of each run; after the notebook, if any")
    what.add_argument("--session", metavar="ID", help="continue a conversation")
    what.add_argument("--title")
    what.add_argument("--model", metavar="ID")
    what.add_argument("--mode", choices=[mode for mode in get_args(Mode) if mode != "bypass"])
    what.add_argument("--toolset", choices=get_args(Toolset))
    what.add_argument("--on-question", choices=get_args(OnQuestion), help="a call that would ask")
    what.add_argument("--missed", choices=get_args(Missed), help="times without a server")
    what.add_argument("--expires", metavar="TIME", help="no run after it")
    command.add_argument("--json", action="store_true", help="as JSON")


def new_schedule(options: argparse.Namespace, root: Path) -> PostSchedule:
    """Return the request of ``add``. Raises ``UsageError``."""
    fields: dict[str, Any] = {name: getattr(options, name) for name in _OPTIONS}
    fields |= {
        "session_id": options.session,
        "notebook": options.notebook and resolve_document(root, options.notebook),
        "expires_at": None if options.expires is None else local_time(options.expires),
    }
    given = {name: value for name, value in fields.items() if value is not None}
    try:
        return PostSchedule(trigger=_trigger(options), **given)
    except ValidationError as error:
        found = error.errors(include_url=False)[0]
        raise UsageError(f"{found['msg']}. schedule --help lists the options.") from error


def _trigger(options: argparse.Namespace) -> Trigger:
    if options.at is not None:
        return OnceTrigger(at=local_time(options.at))
    if options.every is not None:
        span = _SPAN.fullmatch(options.every.replace(" ", ""))
        if span is None:
            raise UsageError(f"{options.every!r} is no span; write 30min, 2h or 1d.")
        return IntervalTrigger(seconds=int(span[1]) * _UNITS[span[2]])
    if options.cron is not None:
        if options.time_zone is None:
            raise UsageError("--cron needs --time-zone, such as Europe/Berlin.")
        return CronTrigger(expression=options.cron, time_zone=options.time_zone)
    raise UsageError("Say when: --at, --every or --cron.")


def local_time(text: str) -> str:
    """Return a time of this terminal's zone with its offset. Raises ``UsageError``."""
    try:
        return datetime.fromisoformat(text).astimezone().isoformat()
    except ValueError as error:
        raise UsageError(f"{text!r} is no time; write 2026-11-29T09:00.") from error
