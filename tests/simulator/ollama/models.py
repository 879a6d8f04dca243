"""The pulled models with their capabilities; read by the checks and by ``show``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class OllamaModel:
    """One model."""

    name: str
    capabilities: frozenset[str] = frozenset({"completion", "tools"})
    context_length: int = 131_072
    family: str = "llama"


MODELS = (
    OllamaModel("sim-llama:latest"),
    OllamaModel(
        "sim-qwen:latest", frozenset({"completion", "tools", "thinking"}), 262_144, "qwen3"
    ),
    OllamaModel("gpt-oss:20b", frozenset({"completion", "tools", "thinking"}), family="gptoss"),
    OllamaModel("sim-llava:latest", frozenset({"completion", "vision"}), 4_096, "llava"),
    OllamaModel("sim-plain:latest", frozenset({"completion", "insert"}), 16_384, "gemma"),
    OllamaModel("nomic-embed-text:latest", frozenset({"embedding"}), 2_048, "nomic-bert"),
)


def find_model(name: str) -> OllamaModel | None:
    """Return the model of this name, with its tag or, for ``latest``, without."""
    tagged = name if ":" in name else f"{name}:latest"
    return next((model for model in MODELS if model.name == tagged), None)
