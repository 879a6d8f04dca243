"""The demo's inline answers, to requests that the engine builds."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.engine.guardrails.untrusted_text import mark_untrusted
from jupyter_ai_shoulders.engine.request.system_prompt import INLINE_SECTIONS, system_prompt
from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.providers.demo.inline import is_inline
from jupyter_ai_shoulders.providers.demo.planner import plan
from jupyter_ai_shoulders.wire.parts import TextPart, UserMessage

OUTLINE = "[attached file: a.ipynb]\n--- cell 1 · id=c1 · code\n--- cell 2 · id=m1 · markdown\n"


def asked(*texts: str, sections: tuple[str, ...] = INLINE_SECTIONS) -> ModelRequest:
    parts = [TextPart(text=text) for text in ("shorter", *texts, "<workspace>\n</workspace>")]
    prompt = system_prompt("2026-03-02T09:30:00.000Z", "/work", sections=sections)
    return ModelRequest(model="demo", system=prompt, messages=(UserMessage(parts=tuple(parts)),))


def selection(place: str, text: str, more: str = "") -> str:
    return f"[attached selection in {place}{more}]\n" + mark_untrusted(text, place, "f00")


REMARK = "Demo (no AI model): asked for “shorter”."
TABLE = {
    "code": (selection("cell c1 of a.ipynb", "a = 1\n\nb"), f"python\n# {REMARK}\na = 1\n\nb"),
    "markdown": (
        selection("cell m1 of a.ipynb", "# Title"),
        f"markdown\n*{REMARK}*\n\n# Title",
    ),
    "part": (
        selection("a.py", "x = ⟦1 + 1⟧\n", ", between ⟦ and ⟧"),
        f"python\n# {REMARK}\n1 + 1",
    ),
    "file of prose": (selection("a.md", "Hi"), f"markdown\n*{REMARK}*\n\nHi"),
    "new cell": ("", f"python\n# {REMARK}"),
}


@pytest.mark.parametrize("name", TABLE)
def test_demo_gives_the_text_back_with_a_remark(name: str) -> None:
    given, expected = TABLE[name]
    reply = plan(asked(*filter(None, [given]), OUTLINE))
    assert (reply.text, reply.act) == (f"````{expected}\n````", None)


def test_conversations_of_the_panel_are_not_taken_for_inline() -> None:
    assert is_inline(asked())
    assert not is_inline(asked(sections=("role", "boundaries")))


NOTEBOOK = (
    "[attached file: a.ipynb]\n"
    'Notebook "a.ipynb" · 2 cells · python3 (python)\n'
    "--- cell 1 · id=c1 · code\nprices = [1, 2]\n"
    "--- cell 2 · id=c2 · code\ntotal = sum(price)\n"
)


def failed(cell: str, error: str) -> str:
    text = f"--- output of cell 2\n{error}\nTraceback"
    return f"[attached error output of cell {cell} of a.ipynb]\n{mark_untrusted(text, cell, 'f00')}"


FIXES = {
    "name": (
        "total = sum(prise)",
        "NameError: name 'prise' is not defined",
        "````python\ntotal = sum(prices)\n````",
    ),
    "import": (
        "np.ones(3)",
        "NameError: name 'np' is not defined",
        "````python\nimport numpy as np\nnp.ones(3)\n````",
    ),
    "other cell": (
        "total = sum(prices)",
        "NameError: name 'prices' is not defined",
        (
            "`prices` is defined in cell 1, which had not been run in this kernel. "
            "Run cell 1 first, then this cell."
        ),
    ),
    "no rule": (
        "1 / 0",
        "ZeroDivisionError: division by zero",
        "Something was divided by zero. I have no rule that fixes this one.",
    ),
}


@pytest.mark.parametrize("name", FIXES)
def test_demo_fixes_the_error_that_is_attached_or_says_what_helps(name: str) -> None:
    source, error, expected = FIXES[name]
    reply = plan(asked(selection("cell c2 of a.ipynb", source), failed("c2", error), NOTEBOOK))
    assert (reply.text, reply.act) == (expected, None)
