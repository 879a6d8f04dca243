"""What ``clarify`` puts to the user; its answers are tested in ``tests/engine``."""

from __future__ import annotations

from jupyter_ai_shoulders.tools.conversation.clarify import distinct_options
from jupyter_ai_shoulders.tools.registry import shipped_description


def test_options_are_said_once_and_say_something():
    assert distinct_options(("Blue", " Blue ", "", "Dark\nred", "Red")) == (
        "Blue",
        "Dark red",
        "Red",
    )


def test_loop_tools_are_described_in_files():
    for name in ("clarify", "complete", "share_artifact", "todo"):
        assert shipped_description(name)
