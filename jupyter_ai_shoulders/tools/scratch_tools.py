"""The tools that look into kernels or run code beside the notebook's cells; called by ``host``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jupyter_ai_shoulders.notebook.base import CellRunner
from jupyter_ai_shoulders.notebook.scratch import ScratchRunner
from jupyter_ai_shoulders.notebook.variables import Variables
from jupyter_ai_shoulders.notebook.verify import Verifier
from jupyter_ai_shoulders.tools.base import Tool
from jupyter_ai_shoulders.tools.notebook_access import NotebookAccess
from jupyter_ai_shoulders.tools.notebook_scratch import RunCode
from jupyter_ai_shoulders.tools.notebook_variables import InspectVariables
from jupyter_ai_shoulders.tools.notebook_verify import VerifyNotebook
from jupyter_ai_shoulders.wire.settings import DataValues


def scratch_tools(
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
