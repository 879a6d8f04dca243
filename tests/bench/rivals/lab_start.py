"""What jupyter-ai and notebook-intelligence add to the start of a lab, beside ours.

Each lab starts in the environment of its extension: with only what JupyterLab itself brings, and
with the extension and the server extensions installed for it. The rows "adds" are the difference
of the medians. Time runs from the start of the process to the answer to the first request, CPU is
the process's time until then, background CPU what it uses after that until it is quiet, memory is
resident then, child processes included. Ours imports most of its modules later than the others, so
look at the sum: the last columns are the first call of the extension's API, and memory when the
server is quiet after it (jupyter-ai has no route that only asks). The child process of
notebook-intelligence is the Claude Code command it brings; most of its memory is there. There are
no pages, kernels or models, and no way out: requests of the others to other hosts go to a closed
port.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.bench.figures import Spread, single, spread
from tests.bench.groups.server_start import (
    ClosePolledLab,
    Start,
    megabytes,
    served,
    settle,
    started,
)
from tests.bench.rivals.comparison import Comparison, Row
from tests.bench.rivals.environments import NotMeasured, Rival
from tests.simulator_process import REPOSITORY
from tests.support.lab_server import free_port

RUNS = 5
COLUMNS = (
    "first answer, s",
    "CPU until then, s",
    "background CPU, s",
    "memory, MB",
    "child processes",
    "first call, s",
    "memory after it, MB",
)
JUPYTER = {"jupyter_lsp", "jupyter_server_terminals", "jupyterlab", "notebook", "notebook_shim"}
"""Server extensions that come with JupyterLab and Notebook."""
LOADED = "{} | extension was successfully loaded."


@dataclass(frozen=True, slots=True)
class Subject:
    """An extension in the environment of an interpreter."""

    name: str
    python: str
    extensions: frozenset[str]
    """The server extensions that are switched off for comparison."""
    call: str | None
    """A route of its API that only asks."""
    environment: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Run:
    """One start, and the memory after the first call if there was one."""

    start: Start
    after_call: float | None

    def values(self) -> tuple[float | None, ...]:
        """Return the figures in the order of the columns."""
        start = self.start
        called = None if self.after_call is None else start.first_call
        return (
            *(start.seconds, start.cpu, start.warm_up_cpu, start.megabytes, start.children),
            *(called, self.after_call),
        )


RIVALS = {
    Rival("jupyter-ai", "jupyter-ai", ("jupyter-ai", "jupyterlab")): None,
    Rival(
        "notebook-intelligence", "notebook-intelligence", ("notebook-intelligence", "jupyterlab")
    ): "notebook-intelligence/capabilities",
}
"""Each with the route of its first call."""


def measure() -> Comparison:
    """Start all labs in turn, without and with the extension."""
    subjects, missing = [_ours()], list[str]()
    for rival, call in RIVALS.items():
        try:
            subjects.append(_tried(rival, call))
        except NotMeasured as error:
            missing.append(f"{rival.name}: {error}.")
    _run(subjects[0], enabled=True)
    runs: dict[tuple[str, bool], list[Run]] = {}
    for _ in range(RUNS):
        for subject in subjects:
            for enabled in (False, True):
                taken = _run(subject, enabled=enabled)
                runs.setdefault((subject.name, enabled), []).append(taken)
    rows = [row for subject in subjects for row in _rows(subject.name, runs)]
    return Comparison(COLUMNS, rows, missing)


def _ours() -> Subject:
    name, status = "jupyter_ai_shoulders", "shoulders/api/v1/status"
    without_stubs = {"PYTHONPATH": str(REPOSITORY)}  # tests/import_stubs would make it faster
    return Subject("ours", sys.executable, frozenset({name}), status, without_stubs)


def _tried(rival: Rival, call: str | None) -> Subject:
    """Install it and start its lab both ways once. Raises ``NotMeasured``."""
    rival.install()
    subject = _subject(rival, call)
    for enabled in (False, True):  # files come from the disk once
        try:
            _run(subject, enabled=enabled)
        except AssertionError as error:  # of ClosePolledLab
            print(error, flush=True)
            raise NotMeasured("its lab ended while starting; its log is above") from error
    return subject


def _subject(rival: Rival, call: str | None) -> Subject:
    closed = f"http://127.0.0.1:{free_port()}"
    offline = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), closed)
    environment = {**rival.variables, **offline, "PYTHONPATH": ""}
    switches = rival.folder / "etc" / "jupyter" / "jupyter_server_config.d"
    enabled: set[str] = set()
    for file in switches.glob("*.json"):
        enabled |= json.loads(file.read_text())["ServerApp"]["jpserver_extensions"].keys()
    names = frozenset(enabled - JUPYTER)
    return Subject(rival.titled(), str(rival.python), names, call, environment)


def _run(subject: Subject, *, enabled: bool) -> Run:
    """Start the lab once. Raises ``NotMeasured`` when an extension did not load."""
    switches = [
        f"--ServerApp.jpserver_extensions={name}={enabled}" for name in sorted(subject.extensions)
    ]
    with tempfile.TemporaryDirectory() as folder:
        lab = ClosePolledLab(
            served(folder),
            Path(folder, "state"),
            switches,
            subject.environment,
            python=subject.python,
        )
        call = subject.call if enabled else None
        with started(lab, call or "api/status") as start:
            if wrong := [
                name for name in subject.extensions if (LOADED.format(name) in lab.log) != enabled
            ]:
                state = "did not load" if enabled else "loaded although switched off"
                raise NotMeasured(f"{', '.join(wrong)} {state}")
            if call is None:
                return Run(start, None)
            process = psutil.Process(lab.pid)
            settle(process)
            return Run(start, megabytes(process))


def _rows(name: str, runs: Mapping[tuple[str, bool], Sequence[Run]]) -> list[Row]:
    off, on = _spreads(runs[name, False]), _spreads(runs[name, True])
    without = (*off[:5], single(0), off[COLUMNS.index("memory, MB")])  # the lab has no such call
    added = tuple(
        single(b.middle - a.middle) if a and b else None for a, b in zip(without, on, strict=True)
    )
    return [
        Row(f"lab without {name}", off),
        Row(f"lab with {name}", on),
        Row(f"**{name} adds**", added),
    ]


def _spreads(runs: Sequence[Run]) -> tuple[Spread | None, ...]:
    columns = zip(*(run.values() for run in runs), strict=True)
    return tuple(
        spread(known) if (known := [value for value in column if value is not None]) else None
        for column in columns
    )
