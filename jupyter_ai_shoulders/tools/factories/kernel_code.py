"""The tools that look into kernels or run code beside the notebook's cells; called by ``host``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_ai_shoulders.notebook.base import CellRunner
from jupyter_ai_shoulders.notebook.execution.scratch_runner import ScratchRunner
from jupyter_ai_shoulders.notebook.execution.verification import Verifier
from jupyter_ai_shoulders.notebook.kernels.variables import Variables
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.notebook.access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook.run_code import RunCode
from jupyter_ai_shoulders.tools.notebook.variables import InspectVariables
from jupyter_ai_shoulders.tools.notebook.verify import VerifyNotebook
from jupyter_ai_shoulders.wire.api.settings import DataValues


def kernel_code_tools(
    access: NotebookAccess,
    *,
    runner: CellRunner,
    scratch: ScratchRunner,
    variables: Variables,
    verifier: Verifier,
    level: Callable[[], DataValues],
) -> list[Tool[Any]]:
    """Return the tools; ``level`` says what may leave of the data in kernels."""
    return [
        RunCode(access, scratch, runner),
        InspectVariables(access, variables, level),
        VerifyNotebook(access, verifier),
    ]
