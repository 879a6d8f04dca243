"""All cases, by subject. Read by ``__main__`` and the tests."""

from __future__ import annotations

from jupyter_ai_shoulders.evaluation.case import Case
from jupyter_ai_shoulders.evaluation.cases import (
    arguments,
    batches,
    editing,
    honesty,
    injection,
    limits,
    loops,
    proving,
    questions,
)

CASES: tuple[Case, ...] = (
    *editing.CASES,
    *batches.CASES,
    *questions.CASES,
    *limits.CASES,
    *loops.CASES,
    *arguments.CASES,
    *honesty.CASES,
    *injection.CASES,
    *proving.CASES,
)
