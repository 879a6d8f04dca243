"""The evaluation: cases of agent behaviour, run with the same driver as every user interface.

The command line calls ``runner.evaluate``; ``docs/evaluation.md`` explains how to write a case.
"""

from jupyter_ai_shoulders.evaluation.case import Case, Check, Message, User
from jupyter_ai_shoulders.evaluation.report import CaseReport, Report
from jupyter_ai_shoulders.evaluation.runner import evaluate
from jupyter_ai_shoulders.evaluation.workspace_fixture import (
    NotebookFixture,
    WorkspaceFixture,
    code,
    markdown,
)

__all__ = [
    "Case",
    "CaseReport",
    "Check",
    "Message",
    "NotebookFixture",
    "Report",
    "User",
    "WorkspaceFixture",
    "code",
    "evaluate",
    "markdown",
]
