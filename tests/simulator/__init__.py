"""A local server that speaks the providers' wire formats as strictly as the real ones.

Used by the tests of the adapters, of the engine, of the proxy and of the browser; see ``Simulator``
for use in a test and ``__main__`` for use as a process.
"""

from tests.simulator.script import (
    Delivery,
    Failure,
    Reasoning,
    Reply,
    Rule,
    Script,
    Text,
    ToolUse,
    Usage,
    When,
    html_error,
    overloaded,
    rate_limited,
    reply,
)
from tests.simulator.server import Recorded, Simulator

__all__ = [
    "Delivery",
    "Failure",
    "Reasoning",
    "Recorded",
    "Reply",
    "Rule",
    "Script",
    "Simulator",
    "Text",
    "ToolUse",
    "Usage",
    "When",
    "html_error",
    "overloaded",
    "rate_limited",
    "reply",
]
