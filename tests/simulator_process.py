"""The provider simulator in a separate process, and a workspace whose models use it."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

KEY = "sk-simulated"
MODEL = "claude-haiku-5-5"
REPOSITORY = Path(__file__).parents[1]
"""Where Python finds ``tests.simulator``, independent of the test's working directory."""


@dataclass
class SimulatorProcess:
    """A simulator that plays one script; stop it afterwards."""

    script: Mapping[str, Any]
    folder: Path
    judge: Callable[[Sequence[Mapping[str, Any]]], None] = lambda _: None
    """Called with all requests before they are dropped."""
    url: str = ""
    _process: subprocess.Popen[str] | None = field(default=None, repr=False)

    def start(self) -> SimulatorProcess:
        """Start it and wait for its address."""
        path = (self.folder / "script.json").absolute()
        path.write_text(json.dumps(self.script), encoding="utf-8")
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.simulator"),
                *("--key", KEY, "--script", str(path)),
            ],
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
        )
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().strip().rpartition(" ")[2]
        return self

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            self.judge(self.requests())
            self._process.terminate()
            self._process.wait(60)
            assert self._process.stdout is not None
            self._process.stdout.close()

    def play(self, script: Mapping[str, Any]) -> None:
        """Play another script from now on; earlier requests are dropped."""
        self.judge(self.requests())
        self._control("POST", "reset")
        self._control("PUT", "script", json.dumps(script).encode())

    def requests(self) -> list[dict[str, Any]]:
        """The requests since the script was set, without those for the list of models."""
        requests = json.loads(self._control("GET", "requests"))["requests"]
        return [request for request in requests if request["method"] == "POST"]

    def configure(self, root: Path) -> dict[str, str]:
        """Make the simulator the workspace's default model; return the server's environment."""
        state = root / ".shoulders"
        state.mkdir(mode=0o700, exist_ok=True)
        models = {
            "default": "simulated",
            "providers": {
                "simulator": {
                    "kind": "anthropic",
                    "url": self.url,
                    "api_key_env": "SIMULATOR_KEY",
                }
            },
            "models": [
                {
                    "id": "simulated",
                    "name": "Simulated",
                    "provider": "simulator",
                    "model": MODEL,
                    "context_window": 200_000,
                }
            ],
        }
        (state / "models.json").write_text(json.dumps(models), encoding="utf-8")
        return {"SIMULATOR_KEY": KEY}

    def _control(self, method: str, route: str, body: bytes | None = None) -> bytes:
        address = f"{self.url}/_sim/{route}"
        request = urllib.request.Request(address, body, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.read()


StartSimulator = Callable[[Mapping[str, Any]], SimulatorProcess]
"""Gives a simulator that plays a script, for the duration of the test."""


def says(text: str, **delivery: Any) -> dict[str, Any]:
    """A reply of text."""
    return {"parts": [{"kind": "text", "text": text}], "delivery": delivery}


def calls(tool: str, arguments: Mapping[str, Any], **delivery: Any) -> dict[str, Any]:
    """A reply that calls a tool."""
    return {
        "parts": [{"kind": "tool", "name": tool, "arguments": dict(arguments)}],
        "delivery": delivery,
    }


def in_order(*replies: Mapping[str, Any]) -> dict[str, Any]:
    """A script that plays these replies one after the other."""
    return {"replies": list(replies)}


def notebook(*cells: tuple[str, str], kernel: str = "python3") -> str:
    """A notebook file of code cells, given as (id, source)."""
    return json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code",
                    "execution_count": None,
                    "id": cell_id,
                    "metadata": {},
                    "outputs": [],
                    "source": source.splitlines(keepends=True),
                }
                for cell_id, source in cells
            ],
            "metadata": {
                "kernelspec": {"display_name": "Python 3", "language": "python", "name": kernel},
                "language_info": {"name": "python"},
            },
            "nbformat": 4,
            "nbformat_minor": 5,
        },
        indent=1,
        ensure_ascii=False,
    )


def texts(cells: Sequence[Mapping[str, Any]], cell_id: str) -> str:
    """Return all stream text in a cell's outputs, from a notebook's JSON."""
    cell = next(cell for cell in cells if cell["id"] == cell_id)
    return "".join(
        text if isinstance(text := output.get("text", ""), str) else "".join(text)
        for output in cell["outputs"]
    )
