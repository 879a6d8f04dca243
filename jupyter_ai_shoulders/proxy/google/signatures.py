"""Opaque state as a ``thoughtSignature``: bytes, which JSON writes as base64 in either alphabet.

Used by ``body`` and ``contents``.
"""

from __future__ import annotations

from jupyter_ai_shoulders.proxy.sealed_state import PREFIX, StateSealer
from jupyter_ai_shoulders.wire.parts import ProviderState, ReasoningPart

_TO_STANDARD = str.maketrans("-_", "+/")
_TO_URL_SAFE = str.maketrans("+/", "-_")


def encode_signature(sealer: StateSealer, state: ProviderState, text: str = "") -> str:
    """Return the state as a signature; what marks it as ours is the seal inside."""
    return sealer.seal(state, text).removeprefix(PREFIX).translate(_TO_STANDARD)


def decode_signature(sealer: StateSealer, given: str | None) -> ReasoningPart | None:
    """Return what was sealed; None for signatures of others, the documented dummy among them."""
    return sealer.open(PREFIX + given.translate(_TO_URL_SAFE)) if given else None
