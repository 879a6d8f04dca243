"""Streamed model output: text and reasoning.

Part of ``wire.events``.
"""

from __future__ import annotations

from typing import Literal

from jupyter_ai_shoulders.wire.event_types.base import EventBase
from jupyter_ai_shoulders.wire.ids import PartId
from jupyter_ai_shoulders.wire.parts import ProviderState


class TextStart(EventBase):
    """The model started a text part."""

    type: Literal["text-start"] = "text-start"
    part_id: PartId


class TextDelta(EventBase):
    """More text of a part."""

    type: Literal["text-delta"] = "text-delta"
    part_id: PartId
    text: str


class TextEnd(EventBase):
    """A text part is complete."""

    type: Literal["text-end"] = "text-end"
    part_id: PartId
    state: ProviderState | None = None


class ReasoningStart(EventBase):
    """The model started a reasoning part."""

    type: Literal["reasoning-start"] = "reasoning-start"
    part_id: PartId


class ReasoningDelta(EventBase):
    """More reasoning text."""

    type: Literal["reasoning-delta"] = "reasoning-delta"
    part_id: PartId
    text: str


class ReasoningEnd(EventBase):
    """A reasoning part is complete; its signature is in ``state``."""

    type: Literal["reasoning-end"] = "reasoning-end"
    part_id: PartId
    state: ProviderState | None = None
