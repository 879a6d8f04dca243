"""The Gemini models with the features each refuses; read by the checks."""

from __future__ import annotations

from dataclasses import dataclass

CLASSIC_LEVELS = frozenset({"LOW", "MEDIUM", "HIGH"})
ALL_LEVELS = CLASSIC_LEVELS | {"MINIMAL"}


@dataclass(frozen=True, slots=True)
class GeminiModel:
    """One model. ``levels`` empty: it takes a budget, from ``least_budget`` on or 0 if it may.

    ``current``: the third generation or later, which enforces thought signatures and takes files in
    results. ``hops``: an answer may come in several streams.
    """

    name: str
    levels: frozenset[str] = ALL_LEVELS
    takes_budget: bool = True
    least_budget: int = 0
    can_be_off: bool = False
    current: bool = True
    hops: bool = False
    explicit_cache: bool = True
    window: int = 1_048_576
    max_output: int = 65_536


MODELS = (
    GeminiModel(
        "gemini-4-argon",
        CLASSIC_LEVELS,
        takes_budget=False,
        hops=True,
        explicit_cache=False,
        max_output=1_048_576,
    ),
    GeminiModel("gemini-3.8-flash", CLASSIC_LEVELS),
    GeminiModel("gemini-3.7-flash", CLASSIC_LEVELS),
    GeminiModel("gemini-3.5-flash-lite"),
    GeminiModel("gemini-3.1-pro", CLASSIC_LEVELS),
    GeminiModel("gemini-2.5-pro", frozenset(), least_budget=128, current=False),
    GeminiModel("gemini-2.5-flash", frozenset(), can_be_off=True, current=False),
)
GEMINI_MODELS = {model.name: model for model in MODELS}
