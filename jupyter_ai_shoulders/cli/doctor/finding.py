"""A finding of the doctor; made by ``install`` and ``engine``, shown by ``command``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

State = Literal["ok", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check."""

    about: str
    state: State
    text: str
    """The result, in words."""
    advice: str = ""
    """What to do; for failures and warnings."""

    def to_dict(self) -> dict[str, str]:
        """Return the finding for JSON."""
        return asdict(self)


def ok(about: str, text: str) -> Finding:
    """Return a finding without a problem."""
    return Finding(about, "ok", text)


def warning(about: str, text: str, advice: str) -> Finding:
    """Return a finding with a tolerable problem."""
    return Finding(about, "warning", text, advice)


def failure(about: str, text: str, advice: str) -> Finding:
    """Return a finding that keeps something from working."""
    return Finding(about, "failure", text, advice)
