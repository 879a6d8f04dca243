"""Reasoning effort of models that take it as a word.

Used by the ``encode`` of both OpenAI formats and of Ollama's.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.core.catalogue.specs import Effort, ModelSpec, ThinkingLevel


def effort_for(model: ModelSpec, level: ThinkingLevel) -> Effort | Literal["none"] | None:
    """Return the effort of this level; None sends nothing.

    ``default`` is the model's own level. Only efforts in the model's entry are returned.
    """
    wanted = model.thinking if level == "default" else level
    support = model.thinking_support
    if support.mode != "effort" or wanted == "default":
        return None
    if wanted == "none":
        return _OFF.get(support.off)
    return wanted if wanted in support.efforts else None


_OFF: dict[str, Effort | Literal["none"]] = {"disabled": "none", "impossible": "low"}
"""Requests no reasoning, or the least."""
