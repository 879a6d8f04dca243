"""Capabilities of each Claude model that a schema cannot express.

Read by ``capabilities`` (refusals), ``reply`` (visibility of thinking) and ``GET /v1/models``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ThinkingType = Literal["adaptive", "enabled", "disabled", "between_tools"]
Effort = Literal["low", "medium", "high", "xhigh", "max"]

NO_EFFORT: tuple[Effort, ...] = ()
UP_TO_MAX: tuple[Effort, ...] = ("low", "medium", "high", "max")
ALL_EFFORTS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class ClaudeModel:
    """One model's limits and capabilities."""

    line: str
    thinking_default: bool
    thinking_types: tuple[ThinkingType, ...]
    forced_tool: Literal["yes", "no", "without_thinking"]
    binds_thinking: bool = False
    efforts: tuple[Effort, ...] = ALL_EFFORTS
    limited_effort: bool = False
    """Without thinking (or with it between tools only) efforts above ``high`` are refused."""
    prefill: bool = False
    system_messages: bool = True
    display: Literal["summarized", "omitted"] = "summarized"
    window: int = 1_000_000
    max_output: int = 128_000


ALWAYS_THINKS = ClaudeModel(
    "fable", True, ("adaptive",), "no", binds_thinking=True, display="omitted"
)
THINKS_OR_NOT = ClaudeModel("opus", False, ("adaptive", "disabled"), "without_thinking")
OLDER = ClaudeModel(
    "haiku",
    False,
    ("enabled", "disabled"),
    "without_thinking",
    efforts=NO_EFFORT,
    prefill=True,
    system_messages=False,
    window=200_000,
    max_output=64_000,
)

CLAUDE_MODELS: dict[str, ClaudeModel] = {
    "claude-fable-5-2": ALWAYS_THINKS,
    "claude-fable-5-1": ALWAYS_THINKS,
    "claude-mythos-5-2": ALWAYS_THINKS,
    "claude-mythos-5-1": ClaudeModel("mythos", True, ("adaptive",), "no"),
    "claude-opus-5-5": ClaudeModel(
        "opus", True, ("adaptive",), "no", binds_thinking=True, display="omitted"
    ),
    "claude-sonnet-5-5": ClaudeModel(
        "sonnet",
        True,
        ("adaptive", "between_tools"),
        "no",
        binds_thinking=True,
        limited_effort=True,
        display="omitted",
    ),
    "claude-haiku-5-5": ClaudeModel(
        "haiku",
        True,
        ("adaptive", "disabled"),
        "yes",
        binds_thinking=True,
        limited_effort=True,
    ),
    "claude-opus-5": ClaudeModel(
        "opus", True, ("adaptive", "disabled"), "yes", limited_effort=True
    ),
    "claude-sonnet-5": ClaudeModel("sonnet", True, ("adaptive", "disabled"), "yes"),
    "claude-opus-4-8": THINKS_OR_NOT,
    "claude-opus-4-7": THINKS_OR_NOT,
    "claude-opus-4-6": ClaudeModel(
        "opus",
        False,
        ("adaptive", "enabled", "disabled"),
        "yes",
        efforts=UP_TO_MAX,
        system_messages=False,
    ),
    "claude-sonnet-4-6": ClaudeModel(
        "sonnet",
        False,
        ("adaptive", "enabled", "disabled"),
        "yes",
        efforts=UP_TO_MAX,
        system_messages=False,
    ),
    "claude-sonnet-4-5": OLDER,
    "claude-haiku-4-5": OLDER,
}
