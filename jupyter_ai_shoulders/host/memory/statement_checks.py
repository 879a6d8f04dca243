"""What may be remembered: short, legible statements without secrets. Used by ``host.memory``."""

from __future__ import annotations

from collections.abc import Callable

from jupyter_ai_shoulders.core.errors import InvalidRequest, PolicyRefusal, TooLarge
from jupyter_ai_shoulders.core.redaction.redactor import MASK
from jupyter_ai_shoulders.wire.api.agent_data.memory import LONGEST_STATEMENT
from jupyter_ai_shoulders.wire.hidden_characters import visible


def checked_statement(text: str, redact: Callable[[str], str]) -> str:
    """Return the text on one line.

    Raises ``InvalidRequest`` (blank, hidden characters, comments), ``TooLarge`` and
    ``PolicyRefusal`` (a secret).
    """
    flat = " ".join(text.split())
    if not flat:
        raise InvalidRequest("There is nothing to remember: the statement is blank.")
    if len(flat) > LONGEST_STATEMENT:
        raise TooLarge(
            f"The statement has {len(flat)} characters; at most {LONGEST_STATEMENT} are kept.",
            hint="State it in one or two short sentences.",
        )
    if visible(flat) != flat:
        raise InvalidRequest(
            "The statement has invisible or reordering characters, so it is not kept: "
            f"{visible(flat)}",
            hint="Write it without them.",
        )
    if "<!--" in flat or "-->" in flat:
        raise InvalidRequest("A statement cannot hold HTML comments.", hint="Leave them out.")
    if redact(flat) != flat or MASK in flat:
        raise PolicyRefusal(
            "The statement holds a key or password, so it is not kept.",
            hint="Secrets belong in a key store; remember where it is, not what it is.",
        )
    return flat
