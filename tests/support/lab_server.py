"""A JupyterLab server in a separate process, which a test can kill and restart."""

import os
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, urlencode

START_SECONDS = 100
STOP_SECONDS = 20


def free_port() -> int:
    """A port of 127.0.0.1 that nothing listens on now."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@dataclass
class Lab:
    """One server: `root` is what it serves, `state` holds its configuration, home and log.

    Port and token stay the same over restarts, so an open page finds the server again.
    """

    root: Path
    state: Path
    args: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str])
    base_url: str = "/"
    folder_trust: str = "always"
    """Most tests write settings into the folder they serve, as a person who trusts it does."""
    port: int = field(default_factory=free_port)
    token: str = field(default_factory=lambda: secrets.token_hex(16))
    python: str = sys.executable
    """Of the environment that has the lab."""
    _process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        """The server's own process id."""
        return self._running().pid

    @property
    def home(self) -> Path:
        """The home directory of the server's user."""
        return self.state / "home"

    @property
    def is_running(self) -> bool:
        """Whether it was started and not ended since."""
        return self._process is not None

    @property
    def log(self) -> str:
        """All that the server has printed, over restarts."""
        return (self.state / "lab.log").read_text(errors="replace")

    def url(self, path: str = "", /, **query: str) -> str:
        """The address of a page or API below the base URL, with the token."""
        query = {"token": self.token, **query}
        return f"http://127.0.0.1:{self.port}{self.base_url}{quote(path)}?{urlencode(query)}"

    def document_url(self, path: str) -> str:
        """The address that opens one document in a lab without saved layout."""
        return self.url(f"lab/tree/{path}", reset="")

    def start(self) -> None:
        """Start the server and wait until it answers."""
        self.state.mkdir(parents=True, exist_ok=True)
        with (self.state / "lab.log").open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                env=self._environment(),
                cwd=self.root,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        self._wait_until_it_answers()

    def stop(self) -> None:
        """End the server as a hub or a terminal would; no error when it is not running."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End the server without a chance to tidy up (`kill -9`)."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        """Start again after `kill` or `stop`, on the same port with the same token and state."""
        self.stop()
        self.start()

    def _running(self) -> subprocess.Popen[bytes]:
        assert self._process is not None, "the server has not been started"
        return self._process

    def _end(self, sent: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(sent)
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait(STOP_SECONDS)
        self._process = None

    def _command(self) -> list[str]:
        return [
            *(self.python, "-m", "jupyterlab"),
            *("--no-browser", "--allow-root", "--ip=127.0.0.1"),
            f"--port={self.port}",
            "--ServerApp.port_retries=0",
            f"--ServerApp.base_url={self.base_url}",
            f"--IdentityProvider.token={self.token}",
            f"--ServerApp.root_dir={self.root}",
            "--ServerApp.allow_unauthenticated_access=False",
            "--LabApp.expose_app_in_browser=True",
            "--LabApp.news_url=None",
            "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
            "--LanguageServerManager.autodetect=False",  # which runs npm, node and R to look
            "--Shoulders.titles=False",  # or titles would take the replies of scripts
            f"--Shoulders.folder_trust={self.folder_trust}",
            *self.args,
        ]

    def _environment(self) -> dict[str, str]:
        own = {
            "HOME": "home",
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        }
        directories = {name: self.state / folder for name, folder in own.items()}
        for directory in directories.values():
            directory.mkdir(exist_ok=True)
        self._decline_news(directories["JUPYTERLAB_SETTINGS_DIR"])
        self._build_nothing(directories["JUPYTER_CONFIG_DIR"])
        paths = {name: str(directory) for name, directory in directories.items()}
        return {**os.environ, **paths, **self.env}

    def _decline_news(self, settings: Path) -> None:
        """Answer what each page would ask in a corner, over the panel, whatever `news_url` says."""
        asked = settings / "@jupyterlab" / "apputils-extension" / "notification.jupyterlab-settings"
        if not asked.exists():
            asked.parent.mkdir(parents=True, exist_ok=True)
            asked.write_text('{"fetchNews": "false"}')

    def _build_nothing(self, config: Path) -> None:
        """Let no page ask whether the lab has to be built: the server runs Node thrice to tell."""
        page = config / "labconfig" / "page_config.json"
        if not page.exists():
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text('{"buildAvailable": false, "buildCheck": false}')

    def _wait_until_it_answers(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            code = self._running().poll()
            if code is not None:
                raise RuntimeError(
                    f"the server ended with code {code} while starting:\n{self.log[-4000:]}"
                )
            try:
                with urllib.request.urlopen(self.url("api/status"), timeout=10):
                    return
            except urllib.error.HTTPError as answer:
                if answer.code == 403 and not self.token:  # it has a password only
                    return
                time.sleep(0.1)
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                time.sleep(0.1)  # another process: there is nothing to wait on but its answer
        raise RuntimeError(f"the server did not answer in {START_SECONDS} s:\n{self.log[-4000:]}")


class StartLab(Protocol):
    """Starts a server on a directory; it is stopped at the end of the test."""

    def __call__(
        self,
        root: Path,
        *,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        base_url: str = "/",
    ) -> Lab: ...
