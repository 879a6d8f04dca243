"""A server that waits only briefly for cells, and notebooks whose cells wait for files.

Used by the tests of long runs and of input; the fixture ``session`` is in ``conftest``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.integration.client import Api
from tests.simulator_process import SimulatorProcess, calls, in_order, notebook, says, texts
from tests.support.lab_server import Lab

STEP_WAIT_SECONDS = 0.5
"""Seconds a step waits for a cell on this server."""


@dataclass
class NotebookSession:
    """A separate notebook on a shared server, and one conversation."""

    lab: Lab
    upstream: SimulatorProcess
    name: str
    session: str = ""
    seen: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])

    @property
    def api(self) -> Api:
        """A plain client."""
        return Api(self.lab)

    @property
    def path(self) -> str:
        """The notebook's path in the workspace."""
        return f"{self.name}.ipynb"

    def waiting(self, name: str = "go") -> str:
        """Code that waits until ``let`` is called with this name."""
        return (
            "import os, time\n"
            f"while not os.path.exists({str(self._file(name))!r}):\n    time.sleep(0.02)\n"
        )

    def let(self, name: str = "go") -> None:
        """Release the code that waits for this name."""
        self._file(name).touch()

    def warm(self, **cells: str) -> None:
        """Write the notebook with these cells, and start its kernel."""
        self.write(warm="1")
        self.ask(self.run("warm"), *[says("It starts.")] * 2)
        self.until("turn-end")
        self.write(**cells)

    def write(self, **cells: str) -> None:
        """Write the notebook with these cells."""
        (self.lab.root / self.path).write_text(notebook(*cells.items()), encoding="utf-8")

    def ask(self, *replies: Mapping[str, Any], **fields: Any) -> None:
        """Send a message to a new conversation; the model answers with these replies."""
        self.upstream.play(in_order(*replies))
        self.session = self.api.session(**fields)
        self.seen = []
        shown = {"open_documents": [self.path]}
        self.api.send(self.session, "Please.", mode="bypass", context=shown)

    def run(self, cell: str = "a") -> dict[str, Any]:
        """A reply that runs a cell."""
        return calls("run_cell", {"path": self.path, "cell_id": cell})

    def until(self, kind: str, count: int = 1) -> dict[str, Any]:
        """Follow the conversation to the ``count``-th event of a kind; return that."""
        self._follow(f"{count} × {kind}", lambda: len(self.of(kind)) == count)
        return self.seen[-1]

    def printed(self, text: str) -> None:
        """Follow the conversation until running code has printed this."""
        self._follow(
            repr(text), lambda: text in "".join(e["text"] for e in self.of("tool-progress"))
        )

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The events of a kind so far."""
        return [event for event in self.seen if event["type"] == kind]

    def outputs(self, cell: str = "a") -> str:
        """A cell's printed output, in the file."""
        cells = json.loads((self.lab.root / self.path).read_text(encoding="utf-8"))["cells"]
        return texts(cells, cell)

    def answer(self, call_id: str, text: str) -> int:
        """Send input to the running code; return the status of the answer."""
        return self.api.call(
            "POST", f"sessions/{self.session}/stdin/{call_id}", {"text": text}
        ).status

    def last_request(self) -> str:
        """The last request to the model."""
        return json.dumps(self.upstream.requests()[-1], ensure_ascii=False)

    def _follow(self, what: str, enough: Callable[[], bool]) -> None:
        self.seen = []
        try:
            for event in self.api.stream(self.session):
                self.seen.append(event)
                if enough():
                    return
        except BaseException as error:  # a timeout: report the events instead
            error.add_note(f"no {what} in {[event['type'] for event in self.seen]}")
            raise
        raise AssertionError(f"the stream ended without {what}")

    def _file(self, name: str) -> Path:
        return self.lab.root / f"{self.name}.{name}"
