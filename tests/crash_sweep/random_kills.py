"""Kills a real Jupyter server at random moments, with real files, a real kernel and active clients.

``python -m tests.crash_sweep --random 200``. Each server is started, used and killed with ``kill
-9`` many times. After every start the invariants are checked and the conversations are continued as
a user would.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import re
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, cast

from jupyter_ai_shoulders.storage.blobs import FileBlobs
from jupyter_ai_shoulders.storage.state_directory import StateDirectory
from tests.crash_sweep.model_catalog import models_file
from tests.integration.client import Api
from tests.simulator import Delivery, Reply, Simulator, ToolUse, reply
from tests.simulator.script import SimRequest
from tests.simulator_process import KEY, notebook
from tests.support.forked_lab import ForkedLab
from tests.support.invariants import Evidence, Seen, crowding, logs_of, notebook_texts, violations

LIFE_SECONDS = 3.0
"""Maximum seconds under traffic before a kill; most are shorter."""
SESSION_LIVES = 6
"""Kills after which another conversation starts."""
PAUSE = Delivery(event_delay=0.01)
_ASKED = re.compile(r"Please (\w+) (\d+)")
_ONCE = re.compile(r"# once: (\w+)")
_CUT = (OSError, http.client.HTTPException, AssertionError, ValueError)
"""Errors of a client whose server dies."""
WISHES = ("tell", "read", "add", "edit", "run", "share", "ask")


def model(request: SimRequest) -> Reply:
    """Do what the last message asks for, then report the end."""
    found = _ASKED.search(request.user_text)
    if request.tool_results or found is None:
        return reply("Done, as far as I can tell.", delivery=PAUSE)
    wish, number = found.groups()
    return reply("I will.", *_calls(wish, number), delivery=PAUSE)


def _calls(wish: str, number: str) -> Iterator[str | ToolUse]:
    path = {"path": "a.ipynb"}
    match wish:
        case "read":
            yield ToolUse(name="read_notebook", arguments={**path})
        case "add":
            yield ToolUse(
                name="add_cell", arguments={**path, "source": f"# once: add{number}", "after": "c1"}
            )
        case "edit":
            yield ToolUse(name="read_notebook", arguments={**path, "cells": ["c2"]})
            yield ToolUse(
                name="edit_cell", arguments={**path, "cell_id": "c2", "source": f"x = {number}"}
            )
        case "run":
            yield ToolUse(name="run_cell", arguments={**path, "cell_id": "c1"})
        case "share":
            yield ToolUse(
                name="share_artifact", arguments={"content": number, "filename": f"{number}.txt"}
            )
        case "ask":
            yield ToolUse(
                name="clarify", arguments={"question": "Which one?", "options": ["A", "B"]}
            )
        case _:
            yield " ".join(f"word{n}" for n in range(40))


@dataclass
class Notes:
    """What the clients of one server recorded."""

    seen: list[Seen] = field(default_factory=list[Seen])
    accepted: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    lock: threading.Lock = field(default_factory=threading.Lock)


@dataclass
class Tally:
    """The counts of a run."""

    kills: int = 0
    statuses: dict[str, int] = field(default_factory=dict[str, int])
    """Statuses in which conversations were left."""
    violations: list[str] = field(default_factory=list[str])
    slowest_accept: float = 0.0
    events: int = 0
    orphans: int = 0


class Lives:
    """One server's directory through all its kills."""

    def __init__(self, folder: Path, url: str, seed: int, say: Callable[[str], None]) -> None:
        self._workspace = folder / "workspace"
        self._effects = folder / "effects"
        self._random = Random(seed)
        self._say = say
        self._notes = Notes()
        self._number = 0
        self._session = ""
        self.tally = Tally()
        state = self._workspace / ".shoulders"
        state.mkdir(parents=True, mode=0o700)
        (state / "models.json").write_text(json.dumps(models_file(url)))
        code = f"open({str(self._effects)!r}, 'a').write('ran\\n')\nimport time\ntime.sleep(0.2)"
        (self._workspace / "a.ipynb").write_text(notebook(("c1", code), ("c2", "x = 1")))
        self._lab = ForkedLab(self._workspace, folder / "lab", env={"SIMULATOR_KEY": KEY})
        self._api = Api(self._lab)

    def live(self, kills: int) -> Tally:
        """Kill the server that many times, and check it at the end."""
        try:
            for life in range(kills):
                self._begin_life(life)
                self._traffic()
                self.tally.kills += 1
                if self.tally.kills % 10 == 0:
                    self._say(f"{self.tally.kills} kills, {len(self.tally.violations)} violations")
            self._begin_life(0)
        finally:
            self._lab.stop()
            self.tally.orphans = end_orphans(self._lab.state)
        self.tally.events = sum(map(len, logs_of(self._database).values()))
        return self.tally

    @property
    def _database(self) -> Path:
        return self._workspace / ".shoulders" / "state.db"

    def _begin_life(self, life: int) -> None:
        """Start, check, and continue the conversation."""
        self._lab.start()
        since = time.monotonic()
        took: dict[str, float | str] = {}
        if self._session:
            took[self._session] = self._take_up(since)
        self._note(violations(self._evidence(took)), life)
        if life % SESSION_LIVES == 0:
            mode = self._random.choice(["bypass", "ask", "auto_edit"])
            self._session = self._api.session(mode=mode)

    def _take_up(self, since: float) -> float | str:
        api, session = self._api, self._session
        status = api.get(f"sessions/{session}")["status"]
        self.tally.statuses[status] = self.tally.statuses.get(status, 0) + 1
        way = self._random.choice(["resume", "discard", "new message"])
        if status == "interrupted" and way != "new message":
            api.post(f"sessions/{session}/resume", {"decision": way})
        self._send("Go on.")
        took = time.monotonic() - since
        self.tally.slowest_accept = max(self.tally.slowest_accept, took)
        return took

    def _note(self, found: list[str], life: int) -> None:
        for problem in found:
            self._say(f"VIOLATION in life {life}: {problem}")
            self.tally.violations.append(f"life {life}: {problem}")

    # traffic

    def _traffic(self) -> None:
        """Run clients, and kill the server under them."""
        with ThreadPoolExecutor(3) as clients:
            after = self._api.get(f"sessions/{self._session}")["last_seq"]
            over = threading.Event()
            work = [
                clients.submit(self._follow, self._session, max(after - 20, 0)),
                clients.submit(self._ask, over),
                clients.submit(self._meddle, over),
            ]
            time.sleep(self._random.random() ** 2 * LIFE_SECONDS)  # the moment of the kill
            self._lab.kill()
            over.set()
        for each in work:
            with contextlib.suppress(*_CUT):
                each.result()

    def _follow(self, session: str, after: int) -> None:
        """Follow events and answer questions."""
        with contextlib.suppress(*_CUT):
            for text in self._api.stream_texts(session, after):
                event = json.loads(text)
                with self._notes.lock:
                    self._notes.seen.append(Seen(session, event["seq"], text))
                self._answer(session, event)

    def _answer(self, session: str, event: dict[str, Any]) -> None:
        route = {"approval-request": "approvals", "clarify-request": "clarifications"}
        where = route.get(event["type"])
        if where is None:
            return
        word: dict[str, Any] = {"decision": "allow"} if where == "approvals" else {"answer": "A"}
        self._api.call("POST", f"sessions/{session}/{where}/{event['call_id']}", word)

    def _ask(self, over: threading.Event) -> None:
        """Send messages; most are queued."""
        with contextlib.suppress(*_CUT):
            while not over.is_set():
                self._number += 1
                self._send(f"Please {self._random.choice(WISHES)} {self._number}.")
                over.wait(self._random.random())

    def _send(self, text: str) -> None:
        message = f"m{self._number}-{time.monotonic_ns()}"
        body = {"id": message, "text": text}
        answer = self._api.call("POST", f"sessions/{self._session}/messages", body)
        if answer.status < 300:
            with self._notes.lock:
                self._notes.accepted.append((self._session, message))
        elif answer.status >= 500:
            self._note([f"I6: a message was refused: {answer.body}"], -1)

    def _meddle(self, over: threading.Event) -> None:
        """Cancel now and then, and write the notebook as another program would."""
        chooser = Random(self._number)
        with contextlib.suppress(*_CUT):
            while not over.wait(0.3 + chooser.random()):
                if chooser.random() < 0.3:
                    self._api.call("POST", f"sessions/{self._session}/cancel", {})

    # evidence

    def _evidence(self, took: dict[str, float | str]) -> Evidence:
        logs = logs_of(self._database)
        ran = self._effects.read_text().split() if self._effects.exists() else []
        labels = [
            label for text in notebook_texts(self._workspace) for label in _ONCE.findall(text)
        ]
        return Evidence(
            logs=logs,
            seen=self._notes.seen,
            accepted=self._notes.accepted,
            effects=[*ran, *labels],
            allowed={"ran": _starts(logs, "run_cell")},
            originals={self._workspace / "a.ipynb": ()},
            accept_seconds=took,
            slack=crowding(),
            blobs=FileBlobs(StateDirectory(self._workspace / ".shoulders")),
            root=self._workspace.parent,
            secrets=(KEY,),
        )


def _starts(logs: dict[str, list[str]], tool: str) -> int:
    """Return how many calls of a tool were started."""
    count = 0
    for log in logs.values():
        events = [json.loads(text) for text in log]
        wanted = {e["call_id"] for e in events if e["type"] == "tool-call" and e["tool"] == tool}
        count += sum(e["type"] == "tool-start" and e["call_id"] in wanted for e in events)
    return count


def end_orphans(state: Path) -> int:
    """Kill kernels that a killed server left, found by the folder of their connection files."""
    runtime, found = str(state / "runtime"), 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if runtime in (folder / "cmdline").read_bytes().decode(errors="replace"):
                os.kill(int(folder.name), signal.SIGKILL)
                found += 1
    return found


def kill_at_random(
    folder: Path, *, kills: int, seed: int, servers: int, say: Callable[[str], None]
) -> Tally:
    """Kill ``servers`` servers in parallel, ``kills`` times in total."""
    with _provider() as provider, ThreadPoolExecutor(servers) as threads:
        each = [kills // servers + (number < kills % servers) for number in range(servers)]
        runs = [
            threads.submit(
                Lives(folder / f"server{n}", provider.url, seed + n, _named(n, say)).live,
                each[n],
            )
            for n in range(servers)
        ]
        tallies = [run.result() for run in runs]
        refusals = [request.refusal for request in provider.requests if request.refusal]
    total = Tally(violations=[f"I7: a provider refused a request: {text}" for text in refusals])
    for tally in tallies:
        total.kills += tally.kills
        total.events += tally.events
        total.orphans += tally.orphans
        total.violations += tally.violations
        total.slowest_accept = max(total.slowest_accept, tally.slowest_accept)
        for status, count in tally.statuses.items():
            total.statuses[status] = total.statuses.get(status, 0) + count
    return total


def _named(number: int, say: Callable[[str], None]) -> Callable[[str], None]:
    return lambda text: say(f"server {number}: {text}")


@contextlib.contextmanager
def _provider() -> Generator[Simulator]:
    """A strict provider on an event loop in its own thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    simulator = Simulator(key=KEY)
    simulator.playing.default = model
    asyncio.run_coroutine_threadsafe(simulator.start(), loop).result()
    try:
        yield simulator
    finally:
        asyncio.run_coroutine_threadsafe(simulator.stop(), loop).result()
        cast("Any", loop).call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
