"""Whether a model goes round in circles: the same calls with the same results, again and again.

Pure; used by ``engine.guardrails.progress_guard``. Work that repeats with changing results (edit,
run, edit, run) is no circle, however long it lasts: what a call answered is half of its signature.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import CallStatus
from jupyter_ai_shoulders.wire.parts import ResultContent, TextPart

LONGEST_CIRCLE = 2
"""Circles of one call (A, A, A) and of two (A, B, A, B) are looked for (chapter 04)."""

_VOLATILE = re.compile(
    r"In\[\d+\]"  # execution counts,
    r"|\b\d+(?:\.\d+)? (?:ms|s|min)\b"  # durations,
    r"|\b0x[0-9a-fA-F]{6,}\b"  # and addresses of objects differ between equal runs
)

_FIRST_LINES = 2_000
"""Characters."""


@dataclass(frozen=True, slots=True)
class CallTrace:
    """One call that was answered, by signatures."""

    call: str
    result: str


def call_signature(tool: str, arguments: JsonObject | None, raw: str | None = None) -> str:
    """Return what two calls share when they ask for the same; ``raw`` is what was no JSON."""
    return _signature(json.dumps([tool, arguments, raw], sort_keys=True))


def result_signature(status: CallStatus, content: Sequence[ResultContent]) -> str:
    """Return what two results share when they say the same, whenever they were made.

    What differs between equal runs is looked for where tools put it, in the first lines: a result
    may be long, and every one passes here.
    """
    said = [_lasting(part.text) if isinstance(part, TextPart) else str(part) for part in content]
    return _signature("\n".join([status, *said]))


def _lasting(text: str) -> str:
    return _VOLATILE.sub("", text[:_FIRST_LINES]) + text[_FIRST_LINES:]


def count_repetitions(traces: Sequence[CallTrace]) -> int:
    """Return how many times in a row the latest call, or pair of calls, was made: at least 1.

    0 when there is none.
    """
    return max((_rounds(traces, length) for length in range(1, LONGEST_CIRCLE + 1)), default=0)


def count_repetitions_with(traces: Sequence[CallTrace], call: str) -> int:
    """Return how many rounds are behind a call that would go round once more; 1 when it is new."""
    best = 1
    for length in range(1, LONGEST_CIRCLE + 1):
        if len(traces) >= length and traces[-length].call == call:
            best = max(best, _rounds(traces, length))
    return best


def _rounds(traces: Sequence[CallTrace], length: int) -> int:
    circle = traces[len(traces) - length :] if length <= len(traces) else ()
    count = 0
    end = len(traces)
    while circle and end >= length and traces[end - length : end] == circle:
        count += 1
        end -= length
    return count


def _signature(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
