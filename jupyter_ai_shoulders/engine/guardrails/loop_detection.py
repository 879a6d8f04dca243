"""Detects a model that repeats the same calls and gets the same results.

Pure; used by ``engine.guardrails.progress_guard``. Repeated work with changing results (edit, run,
edit, run) is not a loop: the result is half of a call's signature.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.events import CallStatus
from jupyter_ai_shoulders.wire.parts import ResultContent, TextPart

LONGEST_CIRCLE = 2
"""Loops of one call (A, A, A) and of two calls (A, B, A, B) are detected."""

_VOLATILE = re.compile(
    r"In\[\d+\]"  # execution counts,
    r"|\b\d+(?:\.\d+)? (?:ms|s|min)\b"  # durations,
    r"|\b0x[0-9a-fA-F]{6,}\b"  # and addresses of objects differ between equal runs
)

_FIRST_LINES = 2_000
"""Characters."""


class CallOutcome:
    """A result to compare with others: equal results are equal whenever they were made.

    Most results are never compared, because no other call was the same: the signature is calculated
    when it is first needed.
    """

    def __init__(self, status: CallStatus, content: Sequence[ResultContent]) -> None:
        self._result = (status, content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CallOutcome) and self._signature == other._signature

    def __hash__(self) -> int:
        return hash(self._signature)

    @cached_property
    def _signature(self) -> str:
        """The signature, without what differs between equal runs.

        That is removed from the first lines only, where tools put it: results may be long.
        """
        status, content = self._result
        said = [
            _lasting(part.text) if isinstance(part, TextPart) else str(part) for part in content
        ]
        return _signature("\n".join([status, *said]))


@dataclass(frozen=True, slots=True)
class CallTrace:
    """One answered call, by its signature, and its result."""

    call: str
    result: CallOutcome


def call_signature(tool: str, arguments: JsonObject | None, raw: str | None = None) -> str:
    """Return a signature that equal calls share; ``raw`` is an argument text that is not JSON."""
    return _signature(json.dumps([tool, arguments, raw], sort_keys=True))


def _lasting(text: str) -> str:
    return _VOLATILE.sub("", text[:_FIRST_LINES]) + text[_FIRST_LINES:]


def count_repetitions(traces: Sequence[CallTrace]) -> int:
    """Return how many times in a row the latest call or pair of calls was made: at least 1.

    0 without calls.
    """
    return max((_rounds(traces, length) for length in range(1, LONGEST_CIRCLE + 1)), default=0)


def count_repetitions_with(traces: Sequence[CallTrace], call: str) -> int:
    """Return the completed rounds of a loop that ``call`` would continue; 1 for a new call."""
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
