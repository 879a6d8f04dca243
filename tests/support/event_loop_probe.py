"""Measures how long a real server's event loop is blocked: never over 100 ms.

A server extension for tests alone: ``ARGUMENTS`` and ``environment`` start a lab with it,
``read_probe`` asks it. A turn that is late because the machine ran other processes does not count:
the kernel says for how long threads of the server were ready and had no processor. It does not say
for how long a virtual machine had none, so one long turn may be the host's: a stall is one that is
far too long, or one that comes again at the same place.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import threading
import time
import traceback
import urllib.request
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from jupyter_server.base.handlers import APIHandler
from jupyter_server.serverapp import ServerApp
from jupyter_server.utils import url_path_join
from tornado import web

from tests.support.lab_server import Lab

LONGEST_MS = 100.0
FAR_TOO_LONG_MS = 500.0
PERIOD_SECONDS = 0.02
LOOK_SECONDS = 0.05
"""After so long without a turn the stacks are noted."""
PATH = "tests/loop"
ARGUMENTS = ("--ServerApp.jpserver_extensions=tests.support.event_loop_probe=True",)


def environment() -> dict[str, str]:
    """The variables with which the extension is found."""
    path = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")]
    return {"PYTHONPATH": os.pathsep.join(filter(None, path))}


@dataclass(frozen=True, slots=True)
class Stall:
    """A turn of the loop that came late."""

    ms: float
    doing: str
    """Where every thread was, if somebody could look."""


class Probe:
    """Ticks in the loop, and a thread that looks at all stacks when no tick comes."""

    def __init__(self) -> None:
        """Made in the loop."""
        self.turns = 0
        self.worst_ms = 0.0
        self.stalls: list[Stall] = []
        self._ticked = time.monotonic()
        self._doing = ""
        threading.Thread(target=self._watch, name="loop-probe", daemon=True).start()

    async def run(self) -> None:
        """Tick for as long as the server lives."""
        while True:
            began, waited = time.monotonic(), self._waited()
            await asyncio.sleep(PERIOD_SECONDS)
            self._ticked = time.monotonic()
            self.turns += 1
            late = (self._ticked - began - PERIOD_SECONDS) * 1000
            if late > self.worst_ms:
                self._note(late - (self._waited() - waited) * 1000)
            self._doing = ""

    def _note(self, ms: float) -> None:
        self.worst_ms = max(self.worst_ms, ms)
        if ms > LONGEST_MS:
            self.stalls.append(Stall(round(ms), self._doing))

    def _waited(self) -> float:
        """Return the seconds for which our threads were ready to run and did not.

        All of them: one that has Python's lock and no processor holds up the loop.
        """
        waits = 0
        for thread in Path("/proc/self/task").iterdir():
            with contextlib.suppress(OSError):  # it ended
                waits += int((thread / "schedstat").read_text().split()[1])
        return waits / 1e9

    def _watch(self) -> None:
        """Look late rather than never: C code that holds Python's lock holds us up too."""
        while True:
            time.sleep(PERIOD_SECONDS)
            if not self._doing and time.monotonic() - self._ticked > LOOK_SECONDS:
                self._doing = _stacks()


def _stacks() -> str:
    """Return where every other thread is."""
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage]: the only way
    del frames[threading.get_ident()]  # ours: a cycle that would keep all variables of all frames
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    return "\n".join(
        f"{names.get(ident)}:\n{''.join(traceback.format_stack(frame)[-12:])}"
        for ident, frame in frames.items()
    )


class ProbeHandler(APIHandler):
    """``tests/loop``."""

    def initialize(self, probe: Probe) -> None:
        """Called by tornado with the arguments of the route."""
        self._probe = probe

    @web.authenticated
    async def get(self) -> None:
        """Tell of the stalls so far, and forget them."""
        probe = self._probe
        stalls = [asdict(stall) for stall in probe.stalls]
        await self.finish({"worst": probe.worst_ms, "turns": probe.turns, "stalls": stalls})
        probe.stalls, probe.worst_ms, probe.turns = [], 0.0, 0


async def _start_jupyter_server_extension(app: ServerApp) -> None:  # pyright: ignore[reportUnusedFunction]: Jupyter calls it
    probe = Probe()
    app.web_app.settings["loop_probe"] = asyncio.create_task(probe.run(), name="loop-probe")
    path = url_path_join(app.web_app.settings["base_url"], PATH)
    app.web_app.add_handlers(".*$", [(path, ProbeHandler, {"probe": probe})])


def _load_jupyter_server_extension(app: ServerApp) -> None:  # pyright: ignore[reportUnusedFunction]: Jupyter calls it
    """Be an extension; all is done once the loop runs."""


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """What the probe saw since it was asked before."""

    worst: float
    turns: int
    stalls: list[dict[str, Any]]


def read_probe(lab: Lab) -> ProbeReport:
    """Return the probe's report and restart its measurement."""
    with urllib.request.urlopen(lab.url(PATH), timeout=120) as answer:
        return ProbeReport(**json.load(answer))


def assert_no_stall(lab: Lab) -> ProbeReport:
    """Fail when the loop stood still for too long since the probe was asked before."""
    seen = read_probe(lab)
    if not seen.turns:  # asked twice between two ticks
        time.sleep(10 * PERIOD_SECONDS)
        assert read_probe(lab).turns, "the probe does not run"
    # The start of a process keeps Python's lock until the child runs, which a busy machine delays.
    ours = [stall for stall in seen.stalls if "_fork_exec" not in stall["doing"]]
    places = Counter(_place(stall["doing"]) for stall in ours)
    real = [
        stall
        for stall in ours
        if stall["ms"] > FAR_TOO_LONG_MS or places[_place(stall["doing"])] > 1
    ]
    assert not real, "\n".join(f"{stall['ms']} ms:\n{stall['doing']}" for stall in real)
    return seen


def _place(doing: str) -> str:
    """Return the innermost line of ours on the main thread's stack, or of anybody's."""
    lines = doing.partition("MainThread:")[2].partition("\n\n")[0].splitlines()
    files = [line for line in lines if line.lstrip().startswith("File ")]
    ours = [line for line in files if "jupyter_ai_shoulders" in line]
    return (ours or files or [doing])[-1]
