"""Do what repo2docker does with ``binder/``, in an environment that has nothing, and look at it.

It copies what is committed, makes a virtual environment, installs ``binder/requirements.txt``, runs
``postBuild``, and starts the server through ``start`` with the variables Binder sets. Then it asks:
is the tour what opens, does the demo answer without a key, are commands in a shell off? (That both
halves of the extension are there is checked by ``postBuild`` itself.) A few minutes and the
network of package indexes, so it is no part of ``make test``.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.support.lab_server import free_port

REPOSITORY = Path(__file__).parents[2]
TOKEN = "visitor"
START_SECONDS = 120.0
TURN_SECONDS = 120.0


def main() -> int:
    """Run the trial; return 0 when all holds."""
    parser = argparse.ArgumentParser(prog="python -m tests.binder_check", description=__doc__)
    parser.add_argument("--revision", default="HEAD", help="what to try (default: HEAD)")
    revision: str = parser.parse_args().revision
    with tempfile.TemporaryDirectory(prefix="binder-") as folder:
        home = Path(folder)
        repository = home / "repository"
        environment = _environment(home)
        _copy(revision, repository)
        _build(repository, environment)
        _visit(repository, environment)
    print("The files of binder/ work.")
    return 0


def _copy(revision: str, target: Path) -> None:
    target.mkdir()
    archive = subprocess.run(
        ["git", "archive", revision], cwd=REPOSITORY, check=True, capture_output=True
    )
    subprocess.run(["tar", "-x"], cwd=target, input=archive.stdout, check=True)


def _environment(home: Path) -> dict[str, str]:
    """Return variables with nothing of this machine's but the way to package indexes."""
    kept = ("PIP_INDEX_URL", "PIP_CERT", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "LANG")
    named = {name: os.environ[name] for name in kept if name in os.environ}
    (home / "home").mkdir()
    path = os.pathsep.join(
        [str(home / "environment" / "bin"), "/usr/local/bin", "/usr/bin", "/bin"]
    )
    return {**named, "HOME": str(home / "home"), "PATH": path}


def _build(repository: Path, environment: Mapping[str, str]) -> None:
    prefix = repository.parent / "environment"
    version = (repository / "binder/runtime.txt").read_text().strip().removeprefix("python-")
    running = f"{sys.version_info.major}.{sys.version_info.minor}"
    if version != running:
        print(f"binder/runtime.txt asks for Python {version}; this is {running}.")
    npmrc = Path.home() / ".npmrc"  # where packages come from is the machine's matter
    if npmrc.exists():
        (Path(environment["HOME"]) / ".npmrc").write_bytes(npmrc.read_bytes())
    for command in (
        [sys.executable, "-m", "venv", str(prefix)],
        ["python", "-m", "pip", "install", "--no-cache-dir", "-r", "binder/requirements.txt"],
        ["binder/postBuild"],
    ):
        print("$", " ".join(command), flush=True)
        subprocess.run(command, cwd=repository, env=environment, check=True)


def _visit(repository: Path, environment: Mapping[str, str]) -> None:
    port = free_port()
    started = subprocess.Popen(
        [
            *("binder/start", "jupyter", "lab", "--no-browser", "--ip=127.0.0.1", "--allow-root"),
            *(f"--port={port}", f"--IdentityProvider.token={TOKEN}"),
        ],
        cwd=repository,
        env={**environment, "BINDER_SERVICE_HOST": "127.0.0.1"},
    )
    try:
        visitor = _Visitor(f"http://127.0.0.1:{port}/")
        visitor.wait_for_the_server(started)
        visitor.look()
    finally:
        started.terminate()
        started.wait(30)


class _Visitor:
    """Somebody who came by a link, without any key."""

    def __init__(self, base: str) -> None:
        self._base = base

    def wait_for_the_server(self, process: subprocess.Popen[bytes]) -> None:
        """Return when it answers."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self._open("api/status")
            except (urllib.error.URLError, ConnectionError):
                assert process.poll() is None, "the server ended"
                assert time.monotonic() < deadline, "the server does not answer"
                time.sleep(0.2)  # another process: there is nothing to wait on but its answer
            else:
                return

    def look(self) -> None:
        """Check what a visitor finds."""
        with self._open("") as page:
            address = page.geturl().partition("?")[0]
        _holds("the tour opens", address.endswith("/lab/tree/examples/tour.ipynb"), address)
        status = self._api("status")
        _holds("the demo answers", status["demo"] is True, status)
        tools = self._api("tools")
        commands = [tool for tool in tools["tools"] if tool["name"] == "run_command"]
        _holds("commands are off", not any(tool["enabled"] for tool in commands), commands)
        run = self._api("runs", {"prompt": "Outline examples/tour.ipynb", "mode": "auto_edit"})
        events = self._ended(run["id"])
        ends = [event["exit"] for event in events if event["type"] == "turn-end"]
        texts = "".join(event["text"] for event in events if event["type"] == "text-delta")
        _holds("a run ends with an answer", ends[-1] in {"final_response", "ended_by_tool"}, ends)
        _holds("the demo says that it is none", bool(texts), texts)

    def _ended(self, session_id: str) -> list[dict[str, Any]]:
        deadline = time.monotonic() + TURN_SECONDS
        while time.monotonic() < deadline:
            events = self._api(f"sessions/{session_id}/events?limit=5000")["events"]
            if any(event["type"] == "turn-end" for event in events):
                return events
            time.sleep(0.2)  # another process, as above
        raise AssertionError("the run does not end")

    def _api(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        with self._open(f"shoulders/api/v1/{path}", body) as answer:
            return json.load(answer)

    def _open(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"token {TOKEN}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._base + path, data, headers)
        return urllib.request.urlopen(request, timeout=60)


def _holds(what: str, condition: bool, found: object) -> None:
    assert condition, f"not so: {what}; found {found}"
    print(f"ok: {what}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
