"""A kernel's variables for suggestions: names, types, shapes, columns; never values.

Part of ``host.inline_completion.context``. The kernel's last answer is used; it is asked again,
briefly, only after it ran something. Every egress setting allows this much.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from jupyter_ai_shoulders.assist.inline_completion.outline import names_in
from jupyter_ai_shoulders.core.clock import Clock
from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.notebook.base import KernelDirectory, KernelHandle
from jupyter_ai_shoulders.notebook.kernels.variable_info import (
    NamespaceInfo,
    VariableInfo,
    short_text,
    variable_text,
)
from jupyter_ai_shoulders.notebook.kernels.variables import KernelVariables

INSPECTION_SECONDS = 0.25
"""How long the kernel may take to answer."""
OURS = timedelta(seconds=0.3)
"""Kernel activity this soon after our own request is the answer to it."""
LIMIT = 2_000
"""Maximum characters of all variables."""
MAX_COLUMNS = 60
"""Maximum columns of a frame that the text mentions."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class CompletionVariableSet:
    """The known variables of a kernel; ``name`` changes with them."""

    namespace: NamespaceInfo | None = None

    @property
    def name(self) -> Hashable:
        """Identifies the content, without parts that inspection itself changes."""
        return "" if self.namespace is None else short_text(self.namespace, 10 * LIMIT)

    def text(self, around: str, hidden: Collection[str] = ()) -> str:
        """Return the variables as text, those mentioned in ``around`` first.

        Names in ``hidden`` are left out.
        """
        if self.namespace is None:
            return ""
        wanted, namespace = names_in(around), _without(self.namespace, hidden)
        spoken_of = [one for one in namespace.variables if one.name in wanted]
        lines = "\n".join(map(_line, spoken_of))[:LIMIT]
        rest = tuple(one for one in namespace.variables if one.name not in wanted)
        others = namespace.model_copy(update={"variables": rest})
        room = LIMIT - len(lines)
        return "\n".join(filter(None, [lines, short_text(others, room) if room > 0 else ""]))


class CompletionVariables:
    """Reads a kernel's variables without long waits."""

    def __init__(self, kernels: KernelDirectory, variables: KernelVariables, clock: Clock) -> None:
        self._kernels = kernels
        self._variables = variables
        self._clock = clock

    async def snapshot(self, path: str) -> CompletionVariableSet:
        """Return the known variables of a notebook's kernel."""
        try:
            handle = await self._kernels.find(path)
        except ShouldersError as error:
            _log.info("The kernel of %s is not known: %s", path, error)
            return CompletionVariableSet()
        if handle is None:
            return CompletionVariableSet()
        last = self._variables.last_of(handle)
        if last is not None and not self._did_something(handle, last.age_s):
            return CompletionVariableSet(last.namespace)
        newer = await self._inspect(path)
        if newer is None and last is not None:
            return CompletionVariableSet(last.namespace)
        return CompletionVariableSet(newer)

    async def _inspect(self, path: str) -> NamespaceInfo | None:
        try:
            async with asyncio.timeout(INSPECTION_SECONDS):
                return (await self._variables.describe(path, "schema_only")).namespace
        except (ShouldersError, TimeoutError) as error:
            _log.info("The variables of %s are not known: %s", path, error or "no answer yet")
            return None

    def _did_something(self, handle: KernelHandle, age_s: float) -> bool:
        """Return whether the kernel was active since it was last asked."""
        active = getattr(handle.manager, "last_activity", None)
        if not isinstance(active, datetime) or active.tzinfo is None:
            return False
        asked = self._clock.now() - timedelta(seconds=age_s)
        return active > asked + OURS


def _without(namespace: NamespaceInfo, hidden: Collection[str]) -> NamespaceInfo:
    """Return the namespace without some names."""
    if not hidden:
        return namespace

    def open_ones(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(name for name in names if name not in hidden)

    return namespace.model_copy(
        update={
            "variables": tuple(one for one in namespace.variables if one.name not in hidden),
            "more": open_ones(namespace.more),
            "functions": open_ones(namespace.functions),
            "classes": open_ones(namespace.classes),
            "modules": tuple(one for one in namespace.modules if one[0] not in hidden),
        }
    )


def _line(variable: VariableInfo) -> str:
    """Return a variable with its columns."""
    columns = [
        f"{_flat(column.name)} ({_flat(column.dtype)})" if column.dtype else _flat(column.name)
        for column in variable.columns[:MAX_COLUMNS]
    ]
    told = f"{_flat(variable.name)}: {variable_text(variable)}"
    return f"{told}; columns: {', '.join(columns)}" if columns else told


def _flat(text: str) -> str:
    return " ".join(text.split())
