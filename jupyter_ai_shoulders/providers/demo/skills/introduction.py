"""Introduces the demo, its abilities, and how to connect a model."""

from __future__ import annotations

from jupyter_ai_shoulders.providers.demo.skill_protocol import Skill

LABEL = "**Demo (no AI model)**"
ABILITIES = """\
- *outline this notebook*: sections, what their cells do, libraries
- *why does this fail?*, *fix the error*: a missing import, a mistyped name, column, method or \
path, cells run in the wrong order
- *profile `data`*: rows, columns, types, missing values of a dataframe
- *plot `column`* of a dataframe, or *plot `a` against `b`, one colour per `c`*, in a new cell
- *what is left to do?*: a list of cells that fail or never ran
- several of these in one request, one after the other"""
REAL_MODEL = (
    "For everything else, connect a model: pick one in the model menu and give it a key "
    "(or set a variable such as `ANTHROPIC_API_KEY` before you start Jupyter)."
)


def greet() -> Skill:
    """Introduce the demo and its abilities."""
    hello = f"Hello! I am the {LABEL}: I follow rules, nothing is sent anywhere."
    return f"{hello}\n\nI can:\n{ABILITIES}\n\n{REAL_MODEL}"
    yield  # a generator that makes no call


def outside() -> Skill:
    """Say in two lines that no rule applies, and what to do."""
    return (
        f"I am the {LABEL} and have no rule for that. I read only English.\n\n"
        "Ask *what can you do?* for my rules, or connect a model for everything else."
    )
    yield  # a generator that makes no call
