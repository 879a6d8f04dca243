"""Encodes opaque state as a ``thoughtSignature``: bytes that JSON holds as base64, in either
alphabet.

Used by ``response_body`` and ``contents``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.proxy.sealed_state import PREFIX, StateSealer
from jupyter_ai_shoulders.wire.parts import ProviderState, ReasoningPart

_TO_STANDARD = str.maketrans("-_", "+/")
_TO_URL_SAFE = str.maketrans("+/", "-_")


def encode_signature(sealer: StateSealer, state: ProviderState, text: str = "") -> str:
    """Return the sealed state as a signature, without the prefix."""
    return sealer.seal(state, text).removeprefix(PREFIX).translate(_TO_STANDARD)


def decode_signature(sealer: StateSealer, given: str | None) -> ReasoningPart | None:
    """Return the sealed part; None for foreign signatures, such as the documented placeholder."""
    return sealer.open(PREFIX + given.translate(_TO_URL_SAFE)) if given else None
