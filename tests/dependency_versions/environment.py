"""A virtual environment with the built package in it. Made by ``__main__``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.utils import canonicalize_name

from tests.dependency_versions import declared_versions

SECONDS = 1_200.0
"""For one program."""


class StepFailed(Exception):
    """A step of the trial failed; the message has the end of what was printed."""


def build_wheel(folder: Path) -> Path:
    """Build the package as it ships, with the page half that is there."""
    command = [
        *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation"),
        *("--quiet", "--wheel-dir", str(folder), str(declared_versions.REPOSITORY)),
    ]
    run(command, env={**os.environ, "HATCH_JUPYTER_BUILDER_SKIP_NPM": "1"}, cwd=folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


@dataclass(frozen=True)
class Environment:
    """A virtual environment in a folder, with a separate home directory."""

    folder: Path
    lowest: bool

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self._bin / ("python.exe" if sys.platform == "win32" else "python")

    @property
    def variables(self) -> Mapping[str, str]:
        """What its programs are started with: no settings of this machine's Jupyter, no keys."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("JUPYTER", "IPYTHON", "PYTHON", "SHOULDERS"))
            and not name.endswith("_API_KEY")
        }
        path = os.pathsep.join((str(self._bin), kept.get("PATH", "")))
        home = self.folder / "home"
        return {**kept, "PATH": path, "HOME": str(home), "USERPROFILE": str(home)}

    def install(self, wheel: Path) -> None:
        """Install the package with its extras, in the lowest or the newest allowed versions."""
        self.folder.mkdir()
        (self.folder / "home").mkdir()
        run([sys.executable, "-m", "venv", str(self.folder / "venv")], cwd=self.folder)
        pins = self.folder / "constraints.txt"
        pins.write_text("".join(f"{line}\n" for line in self._constraints()))
        wanted = f"{wheel}[{','.join(declared_versions.EXTRAS)}]"
        self.call("python", "-m", "pip", "install", "--quiet", "-c", str(pins), wanted)
        tools = [str(each) for each in declared_versions.tools()]
        self.call("python", "-m", "pip", "install", "--quiet", "-c", str(pins), *tools)
        self.call("python", "-m", "pip", "check")

    def versions(self) -> dict[str, str]:
        """Return what is installed, by canonical name."""
        listed = json.loads(self.call("python", "-m", "pip", "list", "--format=json"))
        return {canonicalize_name(each["name"]): each["version"] for each in listed}

    def call(self, program: str, *arguments: str, cwd: Path | None = None) -> str:
        """Run a program of the environment; return what it prints. Raises ``StepFailed``."""
        command = [str(self._bin / program), *arguments]
        return run(command, env=self.variables, cwd=cwd or self.folder)

    @property
    def _bin(self) -> Path:
        return self.folder / "venv" / ("Scripts" if sys.platform == "win32" else "bin")

    def _constraints(self) -> list[str]:
        if not self.lowest:
            return []
        return [
            f"{each.name}=={declared_versions.lowest(each)}"
            for each in declared_versions.requirements()
        ]


def run(command: Sequence[str], cwd: Path, env: Mapping[str, str] = os.environ) -> str:
    """Run a program and return all it prints. Raises ``StepFailed``."""
    done = subprocess.run(
        command,
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    if done.returncode != 0:
        words = " ".join(Path(each).name if os.sep in each else each for each in command[:4])
        raise StepFailed(f"{words} ended with code {done.returncode}:\n{done.stdout[-4_000:]}")
    return done.stdout
