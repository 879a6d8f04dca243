"""Chooses the thinking parameters of a request by what the Claude model accepts.

Used by ``encode``; the capabilities of each model are data of the catalogue.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, assert_never

from jupyter_ai_shoulders.core.catalogue.specs import Effort, ModelSpec, ThinkingLevel

LEAST_BUDGET = 1_024
"""Tokens; the API refuses less."""

BUDGETS: dict[ThinkingLevel, int] = {
    "low": 4_000,
    "medium": 10_000,
    "high": 24_000,
    "default": 10_000,
}
EFFORTS: dict[ThinkingLevel, Effort] = {
    "none": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "default": "medium",
}


@dataclass(frozen=True, slots=True)
class Thinking:
    """The request's ``thinking`` and ``output_config.effort``; None is not sent."""

    kind: Literal["adaptive", "enabled", "disabled", "between_tools"] | None = None
    budget: int = 0
    effort: Effort | None = None
    drop_unbound: bool = False
    """Ask the server to drop blocks that belong to another conversation."""

    @property
    def on(self) -> bool:
        """Whether the answer can begin with thinking."""
        return self.kind in {"adaptive", "enabled"}

    @property
    def can_drop_unbound(self) -> bool:
        """Whether the server can be asked to drop blocks, see ``with_unbound_dropped``."""
        return self.kind in {"adaptive", "between_tools"}

    def parameter(self) -> dict[str, Any] | None:
        """Return the ``thinking`` object."""
        match self.kind:
            case None:
                return None
            case "adaptive":
                binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}}
                shown = {"type": "adaptive", "display": "summarized"}
                return shown | (binding if self.drop_unbound else {})
            case "enabled":
                return {"type": "enabled", "budget_tokens": self.budget}
            case "disabled" | "between_tools":
                return {"type": self.kind}
            case _:
                assert_never(self.kind)


def thinking_for(model: ModelSpec, level: ThinkingLevel, max_tokens: int) -> Thinking:
    """Return the parameters of this level; ``default`` is the model's own."""
    wanted = model.thinking if level == "default" else level
    support = model.thinking_support
    if wanted == "none" or support.mode in {"none", "effort"}:
        return thinking_off(model)
    if support.mode == "adaptive":
        return Thinking("adaptive", effort=_effort(model, wanted))
    budget = min(model.thinking_budget or BUDGETS[wanted], max_tokens - LEAST_BUDGET)
    if budget < LEAST_BUDGET:
        return thinking_off(model)
    return Thinking("enabled", budget=budget, effort=_effort(model, wanted))


def thinking_off(model: ModelSpec) -> Thinking:
    """Return the parameters for no thinking, or for the least where it cannot be turned off."""
    match model.thinking_support.off:
        case "omit":
            return Thinking()
        case "disabled":
            return Thinking("disabled")
        case "between_tools":
            return Thinking("between_tools")
        case "impossible":
            return Thinking("adaptive", effort=_effort(model, "none"))
        case _:
            assert_never(model.thinking_support.off)


def can_be_off(model: ModelSpec) -> bool:
    """Return whether the model can answer without any thinking."""
    return model.thinking_support.off in {"omit", "disabled"}


def with_unbound_dropped(thinking: Thinking) -> Thinking:
    """Return the parameters that ask the server to drop blocks bound to another conversation.

    Only adaptive thinking has that option, so interleaved thinking becomes adaptive for one
    request.
    """
    if thinking.kind == "between_tools":
        return Thinking("adaptive", effort="low", drop_unbound=True)
    return replace(thinking, drop_unbound=True)


def _effort(model: ModelSpec, level: ThinkingLevel) -> Effort | None:
    effort = EFFORTS[level]
    return effort if effort in model.thinking_support.efforts else None
