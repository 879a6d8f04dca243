"""What a look at an error can come to. Made by ``diagnosis`` and the rules beside it."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.providers.demo.notebook import ParsedCell


@dataclass(frozen=True, slots=True)
class Edit:
    """New source for the failing cell; ``why`` and ``what`` are said to the user."""

    source: str
    why: str
    what: str


@dataclass(frozen=True, slots=True)
class RunFirst:
    """Other cells must run first; ``later`` when they stand below the failing one."""

    name: str
    cells: tuple[ParsedCell, ...]
    later: bool
    why: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """No rule fits; ``advice`` says what the error means."""

    advice: str


Diagnosis = Edit | RunFirst | Unknown
