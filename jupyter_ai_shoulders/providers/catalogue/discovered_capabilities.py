"""Converts the capabilities that a service lists into catalogue entries. Pure.

Used by ``model_discovery``. The shipped entries apply where a service lists nothing: Anthropic
lists capabilities, Google lists limits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from jupyter_ai_shoulders.core.catalogue.specs import Effort, ProviderSpec
from jupyter_ai_shoulders.providers.base import ListedModel

Entry = dict[str, Any]


def discovered_capabilities(
    provider: ProviderSpec, models: Sequence[ListedModel]
) -> Mapping[str, Entry]:
    """Return the known capabilities of each model, by the provider's model name."""
    found = {model.name: _entry(provider, model) for model in models}
    return {name: entry for name, entry in found.items() if entry}


def _entry(provider: ProviderSpec, model: ListedModel) -> Entry:
    entry: Entry = {}
    if model.context_window:
        entry["context_window"] = model.context_window
    if model.max_output:
        entry["max_output"] = model.max_output
    match provider.kind:
        case "anthropic":
            entry |= _of_claude(model.capabilities)
        case "openai_chat" if model.capabilities:
            entry |= {
                "tools": "tools" in model.capabilities,
                "images": "vision" in model.capabilities,
            }
        case _:
            pass
    return entry


def _of_claude(capabilities: frozenset[str]) -> Entry:
    """Return the capabilities in Anthropic's ``ModelInfo``; nothing for a model without any."""
    if not capabilities:
        return {}
    entry: Entry = {
        "images": "image_input" in capabilities,
        "structured_output": "structured_outputs" in capabilities,
    }
    types = {name.removeprefix("thinking.") for name in capabilities if name[:9] == "thinking."}
    if not types:
        return entry
    efforts = [name for name in get_args(Effort) if f"effort.{name}" in capabilities]
    mode = "adaptive" if "adaptive" in types else "budget"
    return entry | {"thinking_support": {"mode": mode, "off": _off(types), "efforts": efforts}}


def _off(types: set[str]) -> str:
    """Return how thinking is turned off for a model with these thinking types."""
    if "disabled" in types:
        return "disabled"
    return "between_tools" if "between_tools" in types else "impossible"
