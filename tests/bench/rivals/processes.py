"""Server processes of the programs measured: started in a folder with their own home."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

from tests.bench.rivals.environments import NotMeasured

START_SECONDS = 120.0
STOP_SECONDS = 20.0
LOG_TAIL = 2_000
"""Characters of a server's log that an error shows."""


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A running server and its log."""

    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    def wait_for(self, url: str) -> None:
        """Wait until it answers there, with any status. Raises ``NotMeasured``."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            try:
                urlopen(url, timeout=10).close()
            except HTTPError:
                return
            except (URLError, ConnectionError, TimeoutError):
                time.sleep(0.1)
            else:
                return
        print(self.log.read_text(errors="replace")[-LOG_TAIL:], flush=True)
        raise NotMeasured("its server did not start; the end of its log is printed above")


@contextmanager
def started(
    command: Sequence[str], env: Mapping[str, str], folder: Path
) -> Generator[ServerProcess]:
    """Start a server that uses the folder as its home; end it afterwards."""
    log = folder / "server.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env={**env, "HOME": str(folder)},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        yield ServerProcess(process, log)
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
