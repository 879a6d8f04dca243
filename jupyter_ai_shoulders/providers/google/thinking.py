"""How a Gemini model is asked to think: by level from the third generation on, by budget before.

Used by ``encode``; which of the two a model takes is data of the catalogue (reference §4).
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.providers.vendor_json import VendorObject

BUDGETS: dict[ThinkingLevel, int] = {"low": 1_024, "medium": 8_192, "high": 24_576, "default": -1}
"""Tokens, as Google itself translates efforts; -1 leaves it to the model."""

LEAST_BUDGET = 128
"""The least a model takes that always thinks."""


def thinking_config(model: ModelSpec, level: ThinkingLevel) -> VendorObject | None:
    """Return ``thinkingConfig`` for this level; None: send nothing.

    ``default`` is the model's own level, and where that is ``default`` too the high one.
    """
    wanted = model.thinking if level == "default" else level
    match model.thinking_support.mode:
        case "effort":
            return _by_level(model, wanted)
        case "budget":
            return _by_budget(model, wanted)
        case _:
            return None


def _by_level(model: ModelSpec, wanted: ThinkingLevel) -> VendorObject | None:
    efforts = model.thinking_support.efforts
    if wanted == "none":
        return {"thinkingLevel": efforts[0].upper()} if efforts else None
    effort = "high" if wanted == "default" else wanted
    if effort not in efforts:
        return None
    return {"thinkingLevel": effort.upper(), "includeThoughts": True}


def _by_budget(model: ModelSpec, wanted: ThinkingLevel) -> VendorObject:
    if wanted == "none":
        return {"thinkingBudget": 0 if model.thinking_support.off == "disabled" else LEAST_BUDGET}
    return {"thinkingBudget": model.thinking_budget or BUDGETS[wanted], "includeThoughts": True}
