"""The server behind each model name, and what it accepts.

Read by the checks and by ``reply``. A test may add models: ``Simulator(chat_models=…)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]

SAFE_FIELDS = frozenset(
    {
        "model",
        "messages",
        "stream",
        "stream_options",
        "max_tokens",
        "temperature",
        "top_p",
        "tools",
        "tool_choice",
        "stop",
        "parallel_tool_calls",
        "response_format",
        "seed",
    }
)
OPEN_FIELDS = SAFE_FIELDS | {"reasoning_effort", "user", "n", "max_completion_tokens"}
OPENAI_FIELDS = OPEN_FIELDS | {
    "frequency_penalty",
    "logit_bias",
    "logprobs",
    "metadata",
    "prediction",
    "presence_penalty",
    "prompt_cache_key",
    "prompt_cache_options",
    "prompt_cache_retention",
    "safety_identifier",
    "service_tier",
    "store",
    "top_logprobs",
    "verbosity",
}


@dataclass(frozen=True, slots=True)
class SimulatedServer:
    """A kind of server: the fields it knows, how it words errors, what it streams.

    ``echo``: fields of an assistant message it takes besides the standard ones. ``reasoning``: the
    name its reasoning deltas have. ``must_echo``: a turn with calls must bring its reasoning back.
    ``details``: reasoning comes with signed details too, which may only come back unchanged.
    """

    name: Literal["openai", "vllm", "mistral", "deepseek", "openrouter", "lmstudio", "llamacpp"]
    fields: frozenset[str]
    echo: frozenset[str] = frozenset()
    reasoning: str | None = None
    must_echo: bool = False
    details: bool = False
    one_system_message: bool = False
    keyless: bool = False
    named_choice: bool = True
    """Whether ``tool_choice`` may be an object that names a tool."""


OPENAI = SimulatedServer("openai", OPENAI_FIELDS)
VLLM = SimulatedServer(
    "vllm",
    OPEN_FIELDS,
    echo=frozenset({"reasoning", "reasoning_content"}),
    reasoning="reasoning",
    one_system_message=True,
    keyless=True,
)
MISTRAL = SimulatedServer("mistral", SAFE_FIELDS - {"seed"} | {"random_seed", "safe_prompt"})
DEEPSEEK = SimulatedServer(
    "deepseek",
    SAFE_FIELDS | {"reasoning_effort", "thinking"},
    echo=frozenset({"reasoning_content"}),
    reasoning="reasoning_content",
    must_echo=True,
)
OPENROUTER = SimulatedServer(
    "openrouter",
    OPENAI_FIELDS | {"reasoning", "provider", "models", "usage"},
    echo=frozenset({"reasoning", "reasoning_details"}),
    reasoning="reasoning",
    details=True,
)


LMSTUDIO = SimulatedServer(
    "lmstudio",
    OPEN_FIELDS,
    echo=frozenset({"reasoning_content"}),
    reasoning="reasoning_content",
    keyless=True,
    named_choice=False,
)
LLAMACPP = SimulatedServer(
    "llamacpp",
    OPEN_FIELDS,
    echo=frozenset({"reasoning_content"}),
    reasoning="reasoning_content",
    one_system_message=True,
    keyless=True,
    named_choice=False,
)


@dataclass(frozen=True, slots=True)
class ChatModel:
    """One model: its server, its size, how it reasons.

    ``efforts`` empty: it does not reason. ``default_effort`` is what a request without one gets.
    """

    server: SimulatedServer
    window: int = 128_000
    max_output: int = 16_384
    efforts: tuple[Effort, ...] = ()
    default_effort: Effort = "none"
    tools_need_no_effort: bool = False
    """Function tools are refused unless ``reasoning_effort`` is ``none``, said or default."""
    tools_need_stated_none: bool = False
    """As above, and leaving the effort out is refused too."""


OPTIONAL_EFFORT: tuple[Effort, ...] = ("none", "low", "medium", "high", "xhigh")
NEEDED_EFFORT: tuple[Effort, ...] = ("low", "medium", "high", "xhigh")


def openai_reasoner(efforts: tuple[Effort, ...], default: Effort, stated: bool) -> ChatModel:
    """Return a current OpenAI model."""
    return ChatModel(OPENAI, 922_000, 128_000, efforts, default, True, stated)


CHAT_MODELS: dict[str, ChatModel] = {
    "gpt-4.1": ChatModel(OPENAI, 1_047_576, 32_768),
    "gpt-5.4": openai_reasoner(OPTIONAL_EFFORT, "none", stated=False),
    "gpt-5.6-luna": openai_reasoner(OPTIONAL_EFFORT, "medium", stated=True),
    "gpt-6-luna": openai_reasoner(OPTIONAL_EFFORT, "medium", stated=True),
    "gpt-6.1-terra": openai_reasoner(OPTIONAL_EFFORT, "medium", stated=True),
    "gpt-6.1-sol": openai_reasoner(NEEDED_EFFORT, "medium", stated=True),
    "gpt-6-astra": openai_reasoner(NEEDED_EFFORT, "medium", stated=True),
    "sim-local": ChatModel(VLLM, 32_768, 32_768, ("none", "low", "medium", "high"), "medium"),
    "sim-lmstudio": ChatModel(LMSTUDIO, 32_768, 32_768, ("low", "medium", "high"), "medium"),
    "sim-llamacpp": ChatModel(LLAMACPP, 32_768, 32_768, ("low", "medium", "high"), "medium"),
    "mistral-large-latest": ChatModel(MISTRAL, 256_000),
    "codestral-latest": ChatModel(MISTRAL, 256_000),
    "deepseek-v4-flash": ChatModel(DEEPSEEK, 1_000_000, 384_000, ("high", "max"), "high"),
    "openrouter/auto": ChatModel(
        OPENROUTER, 256_000, 64_000, ("none", "low", "medium", "high"), "medium"
    ),
}
