"""The table of system calls and the decision on each for sandboxed commands.

``syscalls.json`` holds the data; ``guard.process.syscall_filter`` compiles it.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from importlib import resources
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

Decision = Literal["allow", "refuse", "arguments", "own_namespaces", "network"]
Machine = Literal["x86_64", "aarch64"]
"""As ``os.uname`` names it."""

_Number = Annotated[int, BeforeValidator(lambda text: int(text, 0))]
"""A number as a string in C notation."""


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ArgumentTest(_Model):
    """A test of one argument: one of some values, or none of them."""

    __test__ = False  # not a test class for pytest

    argument: int
    mask: _Number | None = None
    equals: tuple[_Number, ...] = ()
    differs_from: tuple[_Number, ...] = ()


class Condition(_Model):
    """When a call is allowed: if all tests of any alternative hold."""

    note: str
    any: tuple[tuple[ArgumentTest, ...], ...]


class SystemCall(_Model):
    """A system call; a number is None where the architecture lacks the call."""

    x86_64: int | None
    aarch64: int | None
    decision: Decision
    only: str | None = None
    only_without_namespaces: str | None = None
    errno: str | None = None
    reason: str

    def number(self, machine: Machine) -> int | None:
        """Return its number on an architecture."""
        return self.x86_64 if machine == "x86_64" else self.aarch64


class SystemCallTable(_Model):
    about: str
    source: str
    decisions: Mapping[Decision, str]
    conditions: Mapping[str, Condition]
    calls: Mapping[str, SystemCall]


@functools.cache
def system_call_table() -> SystemCallTable:
    """Return the table, read on first use."""
    file = resources.files("jupyter_ai_shoulders.guard.process") / "syscalls.json"
    return SystemCallTable.model_validate_json(file.read_bytes())
