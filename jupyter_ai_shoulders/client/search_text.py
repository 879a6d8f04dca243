"""Results of a search as plain text, for the command line and ``%ai search``."""

from __future__ import annotations

from jupyter_ai_shoulders.client.lazy_imports import wire


def search_text(found: wire.SearchResults) -> str:
    """Return the places that were found, each with its lines, or that nothing was."""
    places = [_place(match) for match in found.matches] or ["Nothing was found.\n"]
    return "".join([*places, *([f"{found.warning}\n"] if found.warning else [])])


def _place(match: wire.SearchMatch) -> str:
    lines = "".join(f"    {line}\n" for line in match.snippet.split("\n"))
    if match.conversation is not None:
        return f"Conversation: {match.heading or match.conversation.session_id}\n{lines}"
    place = f"#{match.cell_id}" if match.cell_id else f":{match.line}"
    heading = f"  {match.heading}" if match.heading else ""
    return f"{match.path}{place}{heading}\n{lines}"
