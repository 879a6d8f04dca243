"""The versions that ``pyproject.toml`` allows. Used by ``environment``."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.version import Version

REPOSITORY = Path(__file__).parents[2]
EXTRAS = ("docs", "images", "kernel", "keyring", "qdrant", "search")
"""All that users install but ``collab``, whose packages need newer versions of ours."""
TOOLS = frozenset(
    {"hypothesis", "inline-snapshot", "openpyxl", "pytest", "pytest-jupyter", "pytest-timeout"}
)
"""Of the extra ``test``, what the chosen unit tests need."""


def requirements() -> list[Requirement]:
    """Return the direct dependencies on this system, with those of the extras."""
    project = _project()
    optional: dict[str, list[str]] = project["optional-dependencies"]
    texts = [*project["dependencies"], *(each for extra in EXTRAS for each in optional[extra])]
    return list(_wanted_here(texts))


def tools() -> list[Requirement]:
    """Return what runs the unit tests."""
    texts: list[str] = _project()["optional-dependencies"]["test"]
    return [each for each in _wanted_here(texts) if each.name in TOOLS]


def lowest(requirement: Requirement) -> Version:
    """Return the lowest published version that is allowed. Raises ``LookupError``."""
    allowed = [each for each in _published(requirement.name) if each in requirement.specifier]
    if not allowed:
        raise LookupError(f"No published version satisfies {requirement}.")
    return min(allowed)


def _project() -> dict[str, Any]:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]


def _wanted_here(texts: Iterable[str]) -> Iterator[Requirement]:
    for requirement in map(Requirement, texts):
        if requirement.marker is None or requirement.marker.evaluate():
            yield requirement


def _published(name: str) -> list[Version]:
    command = [sys.executable, "-m", "pip", "index", "versions", name]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"^Available versions: (.*)$", said, re.MULTILINE)
    assert found is not None, said
    return [Version(each) for each in found[1].split(", ")]
