"""Refuses what the model asked cannot take, as its vendor would: nothing is left out in silence.

In a conversation of the product an image becomes a remark when the model changes; a program that
asks this model is told. Called by ``relay``.
"""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.wire.parts import ImagePart, ModelMessage, ToolResultPart, UserMessage


def check_capabilities(asked: ProxyRequest, model: ModelSpec) -> None:
    """Raise ``InvalidRequest`` for images or tools the model cannot take."""
    if not model.images and any(map(_has_image, asked.messages)):
        raise _cannot(model, "read images", '"images": true')
    if not model.tools and asked.tools:
        raise _cannot(model, "call tools", '"tools": true')


def _cannot(model: ModelSpec, ability: str, setting: str) -> InvalidRequest:
    return InvalidRequest(
        f"The model {model.id} does not {ability}.",
        hint=f"Ask another model; if this one can, say {setting} of it in models.json.",
    )


def _has_image(message: ModelMessage) -> bool:
    if not isinstance(message, UserMessage):
        return False
    return any(isinstance(part, ImagePart) or _shows_image(part) for part in message.parts)


def _shows_image(part: object) -> bool:
    shown: Iterable[object] = part.content if isinstance(part, ToolResultPart) else ()
    return any(isinstance(item, ImagePart) for item in shown)
