"""Capabilities of each OpenAI model in the Responses format; read by ``capabilities`` and
``reply``.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.simulator.openai_responses.schema import Effort


@dataclass(frozen=True, slots=True)
class ResponsesModel:
    """One model's limits and capabilities. ``efforts`` empty: it does not reason.

    ``default_effort`` is what a request without one gets; ``window`` is for the prompt.
    """

    efforts: tuple[Effort, ...] = ()
    default_effort: Effort = "none"
    window: int = 922_000
    max_output: int = 128_000
    phases: bool = True
    """Messages say whether they are commentary or the answer, and verbosity can be asked for."""
    explicit_cache: bool = True

    @property
    def reasons(self) -> bool:
        """Whether the model can reason at all."""
        return bool(self.efforts)


ALWAYS: tuple[Effort, ...] = ("low", "medium", "high", "xhigh", "max")
OPTIONAL: tuple[Effort, ...] = ("none", *ALWAYS)
UP_TO_XHIGH: tuple[Effort, ...] = ("none", "low", "medium", "high", "xhigh")

RESPONSES_MODELS: dict[str, ResponsesModel] = {
    "gpt-6-astra": ResponsesModel(ALWAYS, "medium"),
    "gpt-6.1-sol": ResponsesModel(ALWAYS, "medium"),
    "gpt-6.1-terra": ResponsesModel(OPTIONAL, "medium"),
    "gpt-6-sol": ResponsesModel(OPTIONAL, "medium"),
    "gpt-6-luna": ResponsesModel(OPTIONAL, "medium"),
    "gpt-5.6-sol": ResponsesModel(OPTIONAL, "medium"),
    "gpt-5.6-terra": ResponsesModel(OPTIONAL, "medium"),
    "gpt-5.6-luna": ResponsesModel(OPTIONAL, "medium"),
    "gpt-5.5": ResponsesModel(UP_TO_XHIGH, "medium", explicit_cache=False),
    "gpt-5.4": ResponsesModel(UP_TO_XHIGH, "none", explicit_cache=False),
    "gpt-5.4-mini": ResponsesModel(UP_TO_XHIGH, "none", explicit_cache=False),
    "gpt-5": ResponsesModel(
        ("minimal", "low", "medium", "high"), "medium", 272_000, phases=False, explicit_cache=False
    ),
    "o4-mini": ResponsesModel(
        ("low", "medium", "high"), "medium", 100_000, 100_000, phases=False, explicit_cache=False
    ),
    "gpt-4.1": ResponsesModel(
        window=1_014_808, max_output=32_768, phases=False, explicit_cache=False
    ),
}
