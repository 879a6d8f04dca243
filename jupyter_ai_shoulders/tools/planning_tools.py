"""The planning tools, on top of all others; called by ``host``."""

from __future__ import annotations

from jupyter_ai_shoulders.storage.base import Blobs
from jupyter_ai_shoulders.tools.load_tools import CallTool, LoadTools
from jupyter_ai_shoulders.tools.permissions import RuleBook
from jupyter_ai_shoulders.tools.plan_step import PlanLimits
from jupyter_ai_shoulders.tools.read_output import LongRuns, ReadOutput
from jupyter_ai_shoulders.tools.registry import ToolRegistry
from jupyter_ai_shoulders.tools.run_plan import RunPlan


def with_planning(
    tools: ToolRegistry,
    rules: RuleBook,
    blobs: Blobs,
    limits: PlanLimits | None = None,
    runs: LongRuns | None = None,
) -> ToolRegistry:
    """Return these tools with those that page, load and plan; plans and loading see the former."""
    callable_tools = tools.extended([ReadOutput(blobs, runs)])
    planning = [
        LoadTools(callable_tools, rules),
        CallTool(),
        RunPlan(callable_tools, rules, limits),
    ]
    return callable_tools.extended(planning)
