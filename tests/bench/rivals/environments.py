"""A virtual environment for each program that is measured beside ours, filled from PyPI once.

They are in ``.venv-rivals`` of the repository, which git ignores and ``make clean`` removes.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from tests.dependency_versions.environment import StepFailed, run

FOLDER = Path(__file__).parents[3] / ".venv-rivals"


class NotMeasured(Exception):
    """A program could not be installed or started; the message is the reason in one line."""


@dataclass(frozen=True, slots=True)
class Rival:
    """A program that others wrote, and what pip installs for it."""

    name: str
    package: str
    """On PyPI; its version is reported."""
    requirements: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """Its virtual environment."""
        return FOLDER / self.package

    @property
    def bin(self) -> Path:
        """Where its programs are."""
        return self.folder / ("Scripts" if sys.platform == "win32" else "bin")

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.bin / ("python.exe" if sys.platform == "win32" else "python")

    @property
    def variables(self) -> Mapping[str, str]:
        """The environment of its processes: no settings of this machine's Jupyter, no keys."""
        left_out = ("JUPYTER", "IPYTHON", "PYTHON", "VIRTUAL_ENV", "SHOULDERS")
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(left_out) and not name.endswith(("_API_KEY", "_TOKEN"))
        }
        path = os.pathsep.join((str(self.bin), kept.get("PATH", "")))
        return {**kept, "PATH": path, "NO_PROXY": "127.0.0.1,localhost"}

    def install(self) -> None:
        """Create the environment if it is missing. Raises ``NotMeasured``."""
        complete = self.folder / ".complete"
        if complete.exists():
            return
        print(f"installing {self.name} ...", flush=True)
        shutil.rmtree(self.folder, ignore_errors=True)
        FOLDER.mkdir(exist_ok=True)
        try:
            run([sys.executable, "-m", "venv", str(self.folder)], cwd=FOLDER)
            pip = [str(self.python), "-m", "pip", "install", "--quiet", "--no-input"]
            run([*pip, *self.requirements], cwd=FOLDER, env=self.variables)
        except StepFailed as error:
            raise NotMeasured(f"pip did not install it: {_reason(str(error))}") from error
        complete.touch()

    def versions(self) -> dict[str, str]:
        """Return what is installed, by canonical name."""
        command = [str(self.python), "-m", "pip", "list", "--format=json"]
        pip = {"PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        listed = run(command, cwd=FOLDER, env={**self.variables, **pip})
        found = json.loads(listed[listed.index("[") : listed.rindex("]") + 1])
        return {canonicalize_name(each["name"]): each["version"] for each in found}

    def titled(self) -> str:
        """Return name and version."""
        return f"{self.name} {self.versions()[canonicalize_name(self.package)]}"


def _reason(printed: str) -> str:
    """Return pip's error, without the warnings that name this machine's folders."""
    errors = [line for line in printed.splitlines() if line.startswith("ERROR:")]
    return errors[-1].removeprefix("ERROR:").strip() if errors else "see the output of pip"
