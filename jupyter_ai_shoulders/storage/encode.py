"""Events as JSON text, encoded once for log, socket and SSE; whatever is in them can be stored.

Called by ``log`` for each event and by the server for bodies that carry lone surrogates.
"""

from __future__ import annotations

from pydantic import JsonValue
from pydantic_core import PydanticSerializationError

from jupyter_ai_shoulders.wire.events import Event
from jupyter_ai_shoulders.wire.versions import well_formed


def encode_event(event: Event) -> tuple[Event, str]:
    """Return the event's JSON text, and the event that text says.

    They differ from what was given only where a string held a lone surrogate, which has no
    UTF-8: it becomes U+FFFD in both.
    """
    try:
        return event, event.model_dump_json()
    except (PydanticSerializationError, UnicodeError):
        clean = type(event).model_validate(well_formed_json(event.model_dump()))
        return clean, clean.model_dump_json()


def well_formed_json(value: JsonValue) -> JsonValue:
    """Return the value with every lone surrogate in its strings replaced by U+FFFD."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {well_formed(key): well_formed_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):  # a tuple where pydantic dumped one
        return [well_formed_json(item) for item in value]
    return value
