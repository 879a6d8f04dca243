"""The simulated web services in a separate process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tests.simulator_process import REPOSITORY


@contextmanager
def web_services() -> Generator[dict[str, Any]]:
    """Run them; yields a value of ``Shoulders.services`` that leads there."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.simulator.services"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=REPOSITORY,
    )
    assert process.stdout is not None
    try:
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()
