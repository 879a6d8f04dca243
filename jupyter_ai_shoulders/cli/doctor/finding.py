"""What the doctor found; made by ``install`` and ``engine``, shown by ``command``."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Literal

State = Literal["ok", "warning", "failure"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    about: str
    state: State
    text: str
    """What it is like."""
    advice: str = ""
    """What to do; of failures and warnings."""

    def to_dict(self) -> dict[str, str]:
        """Return it for JSON."""
        return asdict(self)


def ok(about: str, text: str) -> Finding:
    """Return a finding that is as it should be."""
    return Finding(about, "ok", text)


def warning(about: str, text: str, advice: str) -> Finding:
    """Return a finding that one can live with."""
    return Finding(about, "warning", text, advice)


def failure(about: str, text: str, advice: str) -> Finding:
    """Return a finding that keeps something from working."""
    return Finding(about, "failure", text, advice)
