"""All cases, by subject. Used by ``__main__`` and the tests."""

from __future__ import annotations

from jupyter_ai_shoulders.evaluation.case import Case
from jupyter_ai_shoulders.evaluation.cases import (
    call_batches,
    editing,
    false_claims,
    injection,
    invalid_arguments,
    limits,
    loops,
    questions,
    verification,
)

CASES: tuple[Case, ...] = (
    *editing.CASES,
    *call_batches.CASES,
    *questions.CASES,
    *limits.CASES,
    *loops.CASES,
    *invalid_arguments.CASES,
    *false_claims.CASES,
    *injection.CASES,
    *verification.CASES,
)
