"""Names the environment variables that may hold a provider's secrets.

Works on raw catalogue entries and imports nothing heavy: ``host.key_environment`` uses it while the
server starts, ``core.catalogue.specs`` for complete entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from jupyter_ai_shoulders.core.variable_expansion import variables_in


def default_key_name(provider: str) -> str:
    """Return the default key variable of a provider."""
    return f"{provider.upper().replace('-', '_')}_API_KEY"


def provider_variables(provider: str, entry: Mapping[str, Any]) -> frozenset[str]:
    """Return the variables that hold the provider's key or are part of its requests.

    Invalid parts of an entry are ignored.
    """
    named = (entry.get("api_key_env"), entry.get("apiKeyEnv"))
    own = [name for name in named if isinstance(name, str) and name]
    others = [name for name in _items(entry.get("other_key_envs")) if isinstance(name, str)]
    parts = (entry.get("url"), *_items(entry.get("headers")), *_items(entry.get("query")))
    used = (name for part in parts if isinstance(part, str) for name in variables_in(part))
    return frozenset([*(own or [default_key_name(provider)]), *others, *used])


def catalogue_variables(catalogue: object) -> frozenset[str]:
    """Return the variables of all providers of a catalogue in JSON."""
    providers: object = _object(catalogue).get("providers")
    found = (provider_variables(name, _object(entry)) for name, entry in _object(providers).items())
    return frozenset[str]().union(*found)


def _object(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def _items(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        yield from cast("Mapping[str, object]", value).values()
    elif isinstance(value, list | tuple):
        yield from cast("list[object]", value)
