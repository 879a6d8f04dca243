"""Imports the modules of a first turn in a thread, once a page connects.

Called by ``server.extension_services``: on the event loop these imports would block it for 0.3 s.
"""

from __future__ import annotations

from importlib import import_module

from jupyter_ai_shoulders.core.redaction.secret_patterns import compiled_secret_patterns
from jupyter_ai_shoulders.wire.events import event_adapter

_MODULES = (
    "jupyter_ai_shoulders.providers.anthropic.provider",  # with httpx and its transport
    "jupyter_ai_shoulders.providers.openai_chat.provider",
    "jupyter_ai_shoulders.notebook.kernels.execute_request",  # with nbclient
    "yaml",  # front matter of instructions and skills
    "pathspec",  # what git ignores
)


def import_for_turns() -> None:
    """Import providers and kernels, build the event models, compile the secret patterns."""
    for name in _MODULES:
        import_module(name)
    event_adapter()
    compiled_secret_patterns()
