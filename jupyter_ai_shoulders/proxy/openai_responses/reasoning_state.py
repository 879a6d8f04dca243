"""Opaque state of messages and calls inside a reasoning item: this format has no place beside them.

An answer with such state ends with an empty reasoning item that carries it, sealed, by the ids of
the items it belongs to. Filled by ``body`` and ``stream``, unpacked by ``decode``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from pydantic import TypeAdapter, ValidationError

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.parts import ProviderState

CARRIER = "shoulders.carrier"
"""Takes the place of a provider's name, so that no adapter takes it for its own."""

_STATES = TypeAdapter(dict[str, ProviderState])


@dataclass(slots=True)
class ReasoningStateCarrier:
    """States by the id of their item; of a call it is the call's id."""

    states: dict[str, ProviderState] = field(default_factory=dict[str, ProviderState])

    def add(self, item_id: str, state: ProviderState | None) -> None:
        """Take the state of an item, if it has any."""
        if state is not None:
            self.states[item_id] = state

    def take(self, carried: ProviderState) -> None:
        """Take what came back; nothing if another version packed it."""
        try:
            self.states |= _STATES.validate_python(carried.data)
        except ValidationError:
            return

    def packed(self) -> ProviderState | None:
        """Return all states as one, None if there is none."""
        if not self.states:
            return None
        data = cast("JsonObject", _STATES.dump_python(self.states, mode="json"))
        return ProviderState(provider=CARRIER, model="", data=data)
