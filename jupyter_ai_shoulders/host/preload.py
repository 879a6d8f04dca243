"""What the first turn needs and a start does not, imported in a thread once somebody shows up.

Called by ``server.extension_services``: on the event loop these imports would hold it for 0.3 s.
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
    """Import providers and kernels, build the models of events, compile the forms of keys."""
    for name in _MODULES:
        import_module(name)
    event_adapter()
    compiled_secret_patterns()
