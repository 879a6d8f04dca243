"""Models for suggestions other than the simulator's default one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.simulator import Simulator

Use = Callable[..., None]
"""Configures the model for suggestions: its provider, then the model itself."""

FILL: dict[str, tuple[dict[str, str], dict[str, Any], str]] = {
    "mistral": ({"profile": "mistral"}, {"model": "codestral-latest"}, "/v1/fim/completions"),
    "deepseek": (
        {"profile": "deepseek"},
        {"model": "deepseek-v4-flash"},
        "/beta/completions",
    ),
    "llamacpp": ({"profile": "llamacpp"}, {"model": "any", "fill_in": True}, "/infill"),
    "ollama": ({"kind": "ollama"}, {"model": "sim-plain", "fill_in": True}, "/api/generate"),
}
"""Fill-in-the-middle models: their provider, the model, and their endpoint."""


def chat(upstream: Simulator, **fields: str) -> dict[str, Any]:
    """A provider of the simulator's chat endpoint."""
    return {"kind": "openai_chat", "url": upstream.openai_url, **fields}


def filling(upstream: Simulator, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """One of ``FILL``, as arguments of ``Use``."""
    provider, model, _ = FILL[name]
    url = upstream.url if name == "ollama" else upstream.openai_url
    return {"kind": "openai_chat", "url": url, **provider}, model
