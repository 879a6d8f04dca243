"""The user's model preferences as plain values.

Read from the settings files by ``host``; used where a model is chosen or a single call is made.
"""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.wire.api.settings import AccessMode, CompletionSettings, Fallback

__all__ = ["COMPLETION_DEFAULTS", "AccessMode", "Fallback", "ModelPreferences"]

INCREMENTING = (
    *("awk", "c", "c#", "c++", "cpp", "csharp", "d", "dart", "go", "groovy", "java"),
    *("javascript", "jsx", "objective-c", "perl", "php", "tsx", "typescript"),
    *("elixir", "elm", "erlang", "haskell", "idris", "purescript", "scala", "zig"),
)
"""Languages in which ``++`` is an operator: increment, or list concatenation."""
COMPLETION_DEFAULTS = CompletionSettings(
    enabled_plus=True, automatic=False, skip_languages=INCREMENTING
)


@dataclass(frozen=True, slots=True)
class ModelPreferences:
    """The permitted models and the limits of single calls."""

    mode: AccessMode = "auto"
    fallback: Fallback = "local"
    """Alternative when the mode's own models cannot answer."""
    single_call_timeout_s: float = 30.0
    single_call_max_tokens: int = 4_000
    ollama_host: str = "http://127.0.0.1:11434"
    default: str = ""
    """The model of new conversations; empty for the last one used."""
