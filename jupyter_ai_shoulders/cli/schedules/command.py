"""``jupyter shoulders schedule``: makes, lists, pauses, runs and deletes schedules.

Schedules run in a Jupyter server, so every action but ``list`` needs one. Called by ``dispatch``.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from pydantic import BaseModel

from jupyter_ai_shoulders.cli.backend_selection import BackendOptions, find_connection
from jupyter_ai_shoulders.cli.errors import CommandFailed, UsageError
from jupyter_ai_shoulders.cli.exit_codes import ExitCode
from jupyter_ai_shoulders.cli.list_commands import print_table
from jupyter_ai_shoulders.cli.output import write_json, write_out
from jupyter_ai_shoulders.cli.schedules.arguments import new_schedule
from jupyter_ai_shoulders.client.connection import Connection
from jupyter_ai_shoulders.wire.api.automation.schedules import (
    CronTrigger,
    FilesTrigger,
    IntervalTrigger,
    OnceTrigger,
    PatchSchedule,
    Schedule,
    ScheduleList,
    ScheduleRun,
    ScheduleRunList,
    ScheduleStatus,
    Trigger,
)

NO_SERVER = (
    "Schedules run in a Jupyter server, and none serves this folder. Start one here "
    "(jupyter lab), or name one with --url."
)
_HEAD = ("id", "state", "next", "last", "when", "title")


def schedule(options: argparse.Namespace, wanted: BackendOptions) -> ExitCode:
    """Perform the action. Raises ``CommandFailed``, ``ClientError``."""
    found = find_connection(wanted)
    if found is None:
        if options.action == "list":
            return _list_stored(options, wanted.workspace)
        raise CommandFailed(NO_SERVER)
    connection, root = found
    with closing(connection):
        return _perform(options, connection, root or wanted.workspace)


def _perform(options: argparse.Namespace, connection: Connection, root: Path) -> ExitCode:
    match options.action:
        case "list":
            listed = connection.get("schedules", ScheduleList)
            return _show(options, listed, [_row(status) for status in listed.schedules])
        case "add":
            command = new_schedule(options, root)
            made = connection.post("schedules", command, ScheduleStatus)
            return _show(options, made, [_row(made)])
        case _:
            return _perform_one(options, connection)


def _perform_one(options: argparse.Namespace, connection: Connection) -> ExitCode:
    if not options.id:
        raise UsageError(f"schedule {options.action}: name a schedule; schedule list shows them.")
    path = f"schedules/{quote(options.id, safe='')}"
    match options.action:
        case "show":
            status = connection.get(path, ScheduleStatus)
            return _show(options, status, [_row(status)])
        case "pause" | "resume":
            revision = connection.get(path, ScheduleStatus).schedule.revision
            state = "paused" if options.action == "pause" else "active"
            command = PatchSchedule(revision=revision, state=state)
            answer = connection.send("PATCH", path, command)
            status = ScheduleStatus.model_validate_json(answer.content)
            return _show(options, status, [_row(status)])
        case "run":
            run = connection.post(f"{path}/run", None, ScheduleRun)
            if options.json:
                return _json(run)
            write_out(f"{run.id} has begun in the conversation {run.session_id}\n")
        case "delete":
            connection.send("DELETE", path)
        case _:
            runs = connection.get(f"{path}/runs", ScheduleRunList)
            if options.json:
                return _json(runs)
            head = ("started", "state", "cause", "conversation", "message")
            return print_table(head, [_run_row(run) for run in runs.runs], "No runs.")
    return ExitCode.OK


def _list_stored(options: argparse.Namespace, workspace: Path) -> ExitCode:
    """List the schedules of the database, because no server runs."""
    from jupyter_ai_shoulders.cli.in_process import load_configuration
    from jupyter_ai_shoulders.storage.automation.schedules import stored_schedules

    state = workspace / (load_configuration().state_dir or ".shoulders")
    found = stored_schedules(state / "state.db")
    if options.json:
        write_json([each.model_dump(mode="json", by_alias=True) for each in found])
        return ExitCode.OK
    rows = [_schedule_row(each, "") for each in found]
    code = print_table(_HEAD, rows, "No schedules.")
    if any(each.state == "active" for each in found):
        raise CommandFailed(f"None of them runs now. {NO_SERVER}")
    return code


def _show(
    options: argparse.Namespace, model: BaseModel, rows: Sequence[Sequence[object]]
) -> ExitCode:
    return _json(model) if options.json else print_table(_HEAD, rows, "No schedules.")


def _json(model: BaseModel) -> ExitCode:
    write_json(model.model_dump(mode="json", by_alias=True))
    return ExitCode.OK


def _row(status: ScheduleStatus) -> tuple[str, ...]:
    return _schedule_row(status.schedule, status.last_run.state if status.last_run else "")


def _schedule_row(schedule: Schedule, last: str) -> tuple[str, ...]:
    when = trigger_text(schedule.trigger)
    next_at = _local(schedule.next_at)
    return (schedule.id, schedule.state, next_at, last, when, schedule.options.title)


def _run_row(run: ScheduleRun) -> tuple[str, ...]:
    return (_local(run.started_at), run.state, run.cause, run.session_id or "", run.message or "")


def trigger_text(trigger: Trigger) -> str:
    """Return a trigger in a few words."""
    match trigger:
        case OnceTrigger():
            return "once"
        case IntervalTrigger(seconds=seconds):
            whole = seconds % 60 == 0
            return f"every {seconds // 60} min" if whole else f"every {seconds} s"
        case CronTrigger():
            return f"{trigger.expression} ({trigger.time_zone})"
        case FilesTrigger():
            return f"when {', '.join(trigger.globs)} change"


def _local(moment: str | None) -> str:
    """Return a stored time in this terminal's zone, to the minute."""
    if moment is None:
        return "-"
    return datetime.fromisoformat(moment).astimezone().strftime("%Y-%m-%d %H:%M")
