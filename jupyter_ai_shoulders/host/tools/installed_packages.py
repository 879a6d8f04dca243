"""Loads the tools of other installed packages, once per process (``tools.installed``).

Part of the composition root: made by ``host.build``, loaded by ``host.host`` before the first turn.
Errors of a package are reported in ``GET status``, by the doctor and in the log, and affect only
its own tools. An import may take long or hang: it runs in a thread that nobody has to wait for, and
late tools are offered once they are loaded.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import threading
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.installed import (
    GROUP,
    InstalledTool,
    MakeTools,
    ToolPorts,
    contract_violation,
)
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.wire.errors import ErrorInfo

LOAD_TIMEOUT_SECONDS = 3.0
"""How long the first request waits for packages; a conversation must open within five seconds."""
_SHOWN = 300
"""Maximum characters shown of an exception's message."""
_HINT = (
    "Repair or uninstall the package, or leave it out of Shoulders.tool_packages; "
    "then restart the Jupyter server."
)

Record = Callable[[Iterable[Tool[Any]]], list[Tool[Any]]]
"""Returns tools that record the call they work for."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Package:
    """The source of tools, for messages."""

    name: str
    version: str
    entry_point: str

    def __str__(self) -> str:
        return f"{self.name} {self.version} (entry point {self.entry_point})".replace("  ", " ")


class ToolInstallTarget:
    """The registries that loaded tools are added to."""

    def __init__(self, base: ToolRegistry, whole: ToolRegistry, record: Record) -> None:
        """``whole`` is made from ``base``; tools are added to both. ``record`` records changes."""
        self._base = base
        self._whole = whole
        self._record = record

    def has(self, name: str) -> bool:
        """Return whether there is a tool of this name."""
        return self._whole.get(name) is not None

    def admit(self, tool: InstalledTool, package: str) -> None:
        """Add a tool whose name is free."""
        (recorded,) = self._record([tool])
        self._base.admit(recorded, tool.description.strip(), package)


class InstalledTools:
    """The tools of packages, and their errors."""

    def __init__(
        self,
        ports: ToolPorts,
        target: ToolInstallTarget,
        *,
        allowed: Collection[str] | None,
        changed: Callable[[], None],
        redact: Callable[[str], str],
        timeout: float = LOAD_TIMEOUT_SECONDS,
    ) -> None:
        """``allowed`` are names of distributions, None: all installed ones.

        ``changed`` is called when tools are added after the tools were already listed.
        """
        self._ports = ports
        self._target = target
        self._allowed = None if allowed is None else frozenset(map(_normal, allowed))
        self._changed = changed
        self._redact = redact
        self._timeout = timeout
        self._errors: list[ErrorInfo] = []
        self._owners: dict[str, Package] = {}
        self._loading: Package | None = None
        self._done = asyncio.Event()
        self._has_started = False
        self._is_late = False
        self._closed = False

    def errors(self) -> tuple[ErrorInfo, ...]:
        """Return the errors, for users."""
        if not self._is_late or self._done.is_set():
            return tuple(self._errors)
        loading = self._loading or "installed packages"
        slow = ErrorInfo(
            code="timeout",
            message=f"Still loading the tools of {loading}. They are not available yet, nor are "
            "those of later packages.",
            hint=_HINT,
        )
        return (*self._errors, slow)

    async def load(self) -> None:
        """Load the packages on the first call; return when that is done or takes too long."""
        if self._has_started:
            return
        self._has_started = True
        threading.Thread(
            target=self._load_all,
            args=(asyncio.get_running_loop(),),
            name="shoulders-tool-packages",
            daemon=True,  # a hanging import must not keep the process from ending
        ).start()
        try:
            async with asyncio.timeout(self._timeout):
                await self.settled()
        except TimeoutError:
            self._is_late = True
            _log.warning("Tools of installed packages are late: %s", self._loading)

    async def settled(self) -> None:
        """Return when the last package has been loaded, however long it takes."""
        await self._done.wait()

    def close(self) -> None:
        """Add no more tools."""
        self._closed = True

    def _load_all(self, loop: asyncio.AbstractEventLoop) -> None:
        """Load all packages; runs in the thread."""
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits for tools
            for package, entry_point in self._searched(loop):
                self._loading = package
                found = _loaded(entry_point, self._ports)
                loop.call_soon_threadsafe(self._on_loaded, package, found)
            self._loading = None
            loop.call_soon_threadsafe(self._done.set)

    def _searched(self, loop: asyncio.AbstractEventLoop) -> list[tuple[Package, EntryPoint]]:
        try:
            return list(self._entry_points())
        except Exception as error:  # noqa: BLE001 - metadata of any package; told by ``_failed``
            loop.call_soon_threadsafe(self._failed, "The installed packages", error)
            return []

    def _entry_points(self) -> Iterator[tuple[Package, EntryPoint]]:
        found: list[tuple[Package, EntryPoint]] = []
        for entry_point in entry_points(group=GROUP):
            name, version = (
                (entry_point.dist.name, entry_point.dist.version) if entry_point.dist else ("?", "")
            )
            if self._allowed is None or _normal(name) in self._allowed:
                shown = f"{entry_point.name} = {entry_point.value}"
                found.append((Package(name, version, shown), entry_point))
        yield from sorted(found, key=lambda each: (each[0].name.lower(), each[0].entry_point))

    def _on_loaded(self, package: Package, found: list[InstalledTool] | BaseException) -> None:
        if self._closed:
            return
        if isinstance(found, BaseException):
            self._failed(f"The tools of {package}", found)
            return
        for tool in found:
            self._install(package, tool)
        if self._is_late:
            self._changed()

    def _install(self, package: Package, tool: InstalledTool) -> None:
        try:
            fault = contract_violation(tool) or self._name_conflict(tool.name)
            if fault is None:
                self._target.admit(tool, package.name)
                self._owners[tool.name] = package
                return
        except Exception as error:  # noqa: BLE001 - its attributes may be anything, and raise
            _log.debug("A tool of %s cannot be looked at", package, exc_info=error)
            fault = f"cannot be looked at: {_error_text(error)}"
        self._wrong(f"A tool of {package}, {_name_of(tool)!r}, is not used: it {fault}.")

    def _name_conflict(self, name: str) -> str | None:
        if name in self._owners:
            return f"has the name of a tool of {self._owners[name]}"
        if self._target.has(name):
            return "has the name of one of the AI colleague's own tools"
        return None

    def _failed(self, what: str, error: BaseException) -> None:
        _log.error("%s could not be loaded", what, exc_info=error)
        self._wrong(f"{what} could not be loaded: {_error_text(error)}.")

    def _wrong(self, message: str) -> None:
        message = self._redact(message)
        _log.warning("%s %s", message, _HINT)
        self._errors.append(ErrorInfo(code="internal", message=message, hint=_HINT))


def _loaded(entry_point: EntryPoint, ports: ToolPorts) -> list[InstalledTool] | BaseException:
    """Return a package's tools, or its exception: foreign code may raise anything."""
    try:
        make: MakeTools = entry_point.load()
        return list(make(ports))
    except BaseException as error:  # noqa: BLE001 - SystemExit too; it is logged by ``_failed``
        return error


def _name_of(tool: InstalledTool) -> str:
    try:
        return str(getattr(tool, "name", None) or type(tool).__name__)[:80]
    except Exception:  # noqa: BLE001 - as above; its error is reported already
        return type(tool).__name__


def _error_text(error: BaseException) -> str:
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(" .:")
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _normal(name: str) -> str:
    """Return the name of a distribution as the packaging specifications compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()
