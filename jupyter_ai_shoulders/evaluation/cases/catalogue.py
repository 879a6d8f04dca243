"""All cases, by subject. Read by ``__main__`` and the tests."""

from __future__ import annotations

from jupyter_ai_shoulders.evaluation.case import Case
from jupyter_ai_shoulders.evaluation.cases import editing

CASES: tuple[Case, ...] = (*editing.CASES,)
