"""The possible results of a diagnosis; made by ``diagnosis`` and the rules beside it."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell


@dataclass(frozen=True, slots=True)
class Edit:
    """New source for the failing cell; ``why`` and ``what`` are shown to the user."""

    source: str
    why: str
    what: str


@dataclass(frozen=True, slots=True)
class RunFirst:
    """Other cells must run first; ``later`` when they are below the failing one."""

    name: str
    cells: tuple[ParsedCell, ...]
    later: bool
    why: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """No rule applies; ``advice`` explains the error."""

    advice: str


Diagnosis = Edit | RunFirst | Unknown
