"""JupyterLab servers forked from a process that has imported them: a start takes 0.3 s, not 2.

Used by the fixtures that start servers, and by ``tests.crash_sweep.random_kills``. Run as a
process, this module forks: it reads one order per line and answers with the new server's process
id. Benchmarks and tests of the start itself use ``Lab``.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from tests.support.lab_server import Lab

POLL_SECONDS = 0.02
REPOSITORY = Path(__file__).parents[2]


class ForkedServer:
    """The part of ``Popen`` that ``Lab`` uses, for a process that is not a child."""

    def __init__(self, pid: int) -> None:
        self.pid = pid

    def poll(self) -> int | None:
        """Return None while it runs."""
        return None if Path(f"/proc/{self.pid}").exists() else -1

    def send_signal(self, sent: int) -> None:
        """Send a signal if it still runs."""
        if self.poll() is None:
            os.kill(self.pid, sent)

    def kill(self) -> None:
        """Kill it."""
        self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float) -> int:
        """Wait for its end. Raises ``TimeoutExpired``."""
        deadline = time.monotonic() + timeout
        while self.poll() is None:
            if time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("the server", timeout)
            time.sleep(POLL_SECONDS)  # not a child, so it must be polled
        return -1


class LabFork:
    """The forking process; a resource: ``close`` it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.forked_lab"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=REPOSITORY,
        )

    def start(self, order: dict[str, Any]) -> ForkedServer:
        """Fork a server."""
        with self._lock:
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
            return ForkedServer(int(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process; its servers continue."""
        self._process.communicate(timeout=10)


@cache
def shared_fork() -> LabFork:
    """Return the forking process of this process, which lives as long."""
    fork = LabFork()
    atexit.register(fork.close)
    return fork


@dataclass
class ForkedLab(Lab):
    """A ``Lab`` whose process is forked."""

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self.state.mkdir(parents=True, exist_ok=True)
        environment = self._environment()
        # JupyterLab read these variables when the forking process imported it.
        directories = (
            f"--LabApp.user_settings_dir={environment['JUPYTERLAB_SETTINGS_DIR']}",
            f"--LabApp.workspaces_dir={environment['JUPYTERLAB_WORKSPACES_DIR']}",
        )
        order = {
            "arguments": [*self._command()[3:], *directories],
            "environment": dict(environment),
            "folder": str(self.root),
            "log": str(self.state / "lab.log"),
        }
        self._process = cast("subprocess.Popen[bytes]", shared_fork().start(order))
        self._wait_until_it_answers()


def main() -> None:
    """Fork servers until the parent is gone."""
    import jupyterlab.labapp

    import_module("jupyter_ai_shoulders.server.extension_services")  # needed at start

    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the children
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            _serve(jupyterlab.labapp.LabApp, json.loads(line))
        print(pid, flush=True)  # noqa: T201 the answer


def _serve(app: Any, order: dict[str, Any]) -> None:
    """Run the server until it ends."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for descriptor in (1, 2):
            os.dup2(log, descriptor)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(order["folder"])
        os.environ.clear()
        os.environ.update(order["environment"])
        added = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        sys.path[1:1] = [folder for folder in added if folder and folder not in sys.path]
        app.launch_instance(order["arguments"])
    except BaseException:  # noqa: BLE001 the process ends here, and its log says why
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(0)


if __name__ == "__main__":
    main()
