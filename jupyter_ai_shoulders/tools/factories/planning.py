"""The planning tools, on top of all others; called by ``host``."""

from __future__ import annotations

from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.tools.load_tools import CallTool, LoadTools
from jupyter_ai_shoulders.tools.permissions.store import PermissionStore
from jupyter_ai_shoulders.tools.planning.run_plan import RunPlan
from jupyter_ai_shoulders.tools.planning.step_runner import PlanLimits
from jupyter_ai_shoulders.tools.read_output import BackgroundCallReader, ReadOutput
from jupyter_ai_shoulders.tools.registry import ToolRegistry


def with_planning(
    tools: ToolRegistry,
    rules: PermissionStore,
    blobs: Blobs,
    limits: PlanLimits | None = None,
    runs: BackgroundCallReader | None = None,
) -> ToolRegistry:
    """Return these tools with those that page, load and plan; plans and loading see the former."""
    callable_tools = tools.extended([ReadOutput(blobs, runs)])
    planning = [
        LoadTools(callable_tools, rules),
        CallTool(),
        RunPlan(callable_tools, rules, limits),
    ]
    return callable_tools.extended(planning)
