"""Renders a conversation for a saved notebook: no kernel, no scripts. Pure; used by
``saved_transcript``.

HTML for front ends, GitHub and nbviewer. All text of users and models is escaped and images are
links, because other people open the notebook.
"""

from __future__ import annotations

import html
import json
from typing import Any

from jupyter_ai_shoulders.kernel.answer_rendering import (
    Bundle,
    is_harmless,
    plain_text_bundle,
    render_html,
)

MAX_CHARACTERS = 300_000
"""Characters of the conversation that a notebook keeps; the server has all of it."""
_CUT = "*The beginning of this conversation is left out here; the side panel has it.*\n\n"
_STYLE = "max-width:60em;overflow-wrap:anywhere"
_ALONE = (
    "<style>.jp-OutputArea-child:has(+ .jp-OutputArea-child .shoulders-transcript-{}) > "
    ".jp-OutputArea-output:not(:has(*)) {{ display: none; }}</style>"
)
"""JupyterLab and Notebook show "model not found" in place of a view whose kernel has stopped; a
live view, and any other output, has elements. The conversation is more useful.
"""


def transcript_html(text: str, name: str) -> str:
    """Return an exported conversation as HTML. ``name`` becomes a class, for the live panel."""
    body = render_html(text, exported=True)
    name = html.escape(name)
    return (
        f'<div class="shoulders-transcript shoulders-transcript-{name}" style="{_STYLE}">'
        f"{body}</div>"
    )


def transcript_bundle(text: str, name: str) -> Bundle:
    """Return display data of an exported conversation."""
    shown = transcript_html(text, name) + _ALONE.format(html.escape(name))
    data: Bundle = {"text/html": shown, **plain_text_bundle(text)}
    if is_harmless(data["text/plain"]):
        data["text/markdown"] = data["text/plain"]
    return data


def truncate_transcript(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return the end of a long conversation, from the start of a message."""
    if len(text) <= limit:
        return text
    rest = text[-limit:]
    start = rest.find("\n## ")
    return _CUT + rest[max(start, 0) :].lstrip("\n")


def ended_turns(frame: str) -> frozenset[str]:
    """Return the conversations whose turns ended according to a frame of the page socket."""
    if '"turn-end"' not in frame:
        return frozenset()
    said: Any = json.loads(frame)
    events: list[Any] = said.get("events") or [] if said.get("type") == "events" else []
    return frozenset(each["session_id"] for each in events if each.get("type") == "turn-end")
