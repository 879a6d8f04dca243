"""Plans of reads: binding of arguments, order, stop condition (chapter 04). Pure.

Executed by ``tools.run_plan``; ``engine.memory`` reads what a plan left behind for the next one.
"""

from __future__ import annotations

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.results import ToolEnvelope

RUN_PLAN = "run_plan"


def left_behind(result: ToolEnvelope, before: JsonObject | None) -> JsonObject | None:
    """Return what a plan that is to be made anew leaves to the next one; None when it is over.

    A call that was refused as it stood leaves what was there ``before``.
    """
    data = result.data
    if not isinstance(data, dict) or "status" not in data:
        return before
    if data["status"] != "replan":
        return None
    return {"memory": data.get("memory"), "left": data.get("left")}
