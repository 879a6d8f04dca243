"""Compares installed packages with the requirements in this package's metadata.

Needs only the standard library, because dependencies may be missing. Called by ``install``, and by
``main`` when the commands cannot be imported.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from importlib import metadata

from jupyter_ai_shoulders.cli.doctor.finding import Finding, failure, ok

DISTRIBUTION = "jupyter-ai-shoulders"
_REPORTED = frozenset({"jupyter-server", "jupyterlab"})
"""Their versions are always shown."""
_REQUIREMENT = re.compile(r"(?P<name>[A-Za-z0-9._-]+)[^;]*?>=\s*(?P<least>[0-9.]+)[^;]*")


def requirements() -> Sequence[str]:
    """Return the installed package's requirements, in the form of its metadata."""
    try:
        return metadata.requires(DISTRIBUTION) or ()
    except metadata.PackageNotFoundError:  # run from its source
        return ()


def check_dependencies(
    requires: Sequence[str] | None = None, version_of: Callable[[str], str] = metadata.version
) -> Iterator[Finding]:
    """Yield missing and outdated packages; requirements of some systems or extras are skipped."""
    for text in requirements() if requires is None else requires:
        found = _REQUIREMENT.fullmatch(text)
        if found is not None:
            yield from _compared(found["name"], found["least"], version_of)


def _compared(name: str, least: str, version_of: Callable[[str], str]) -> Iterator[Finding]:
    update = f'pip install "{name}>={least}"'
    try:
        installed = version_of(name)
    except metadata.PackageNotFoundError:
        yield failure(name, "not installed", update)
        return
    needed = _numbers(least)
    if _numbers(installed)[: len(needed)] < needed:
        yield failure(name, f"{installed} is too old", update)
    elif name in _REPORTED:
        yield ok(name, installed)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", version)))
