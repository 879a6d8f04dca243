"""Carries the opaque state of messages and calls in a reasoning item, as they have no field for it.

A reply with such state ends with an empty reasoning item that holds all states, sealed, by item id.
Filled by ``response_body`` and ``stream``, unpacked by ``decode``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

from pydantic import TypeAdapter, ValidationError

from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.parts import ProviderState

CARRIER = "shoulders.carrier"
"""Used as the provider's name, so that no adapter takes the state for its own."""

_STATES = TypeAdapter(dict[str, ProviderState])


@dataclass(slots=True)
class ReasoningStateCarrier:
    """States by item id; for a call, by the call's id."""

    states: dict[str, ProviderState] = field(default_factory=dict[str, ProviderState])

    def add(self, item_id: str, state: ProviderState | None) -> None:
        """Add the state of an item, if it has any."""
        if state is not None:
            self.states[item_id] = state

    def take(self, carried: ProviderState) -> None:
        """Unpack a returned state; ignored if another version packed it."""
        try:
            self.states |= _STATES.validate_python(carried.data)
        except ValidationError:
            return

    def packed(self) -> ProviderState | None:
        """Return all states as one; None if there are none."""
        if not self.states:
            return None
        data = cast("JsonObject", _STATES.dump_python(self.states, mode="json"))
        return ProviderState(provider=CARRIER, model="", data=data)
