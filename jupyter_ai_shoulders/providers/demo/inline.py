"""Inline answers that are inserted into the user's text: a fixed cell, or text with a remark.

Used by ``planner``. The prompt of such conversations is ``engine/prompts/inline.md``.
"""

from __future__ import annotations

import re
from dataclasses import replace

from jupyter_ai_shoulders.providers.base import ModelRequest
from jupyter_ai_shoulders.providers.demo.conversation import (
    MARKED,
    is_request,
    spoken,
    texts_of,
)
from jupyter_ai_shoulders.providers.demo.diagnosis import diagnose
from jupyter_ai_shoulders.providers.demo.diagnosis_results import Edit, RunFirst
from jupyter_ai_shoulders.providers.demo.notebook import parse_notebook
from jupyter_ai_shoulders.providers.demo.one_shot import shortened
from jupyter_ai_shoulders.providers.demo.skill_protocol import SkillReply
from jupyter_ai_shoulders.providers.demo.skills.notebook_steps import listed

PROMPT = "Your answer is not read as a message"
"""A sentence that only the prompt of these conversations has."""
FENCE = "````"
SHOWN = 80
"""Characters of the user's words that are quoted."""
SELECTION = re.compile(r"^\[attached selection in (?:cell (?P<cell>\S+) of )?(?P<path>[^\n\]]+)\]")
BETWEEN = re.compile("⟦(.*)⟧", re.DOTALL)
ERROR = re.compile(r"^\[attached error output of cell (?P<cell>\S+) of ")
OUTPUT_HEADER = re.compile(r"^--- output of cell \d+\n")


def is_inline(request: ModelRequest) -> bool:
    """Return whether the answer will be inserted into the user's text."""
    return not request.tools and PROMPT in request.system


def answer_inline(request: ModelRequest) -> SkillReply:
    """Return the fixed cell where an error is attached, else the text with a remark on top."""
    asking = [message for message in request.messages if is_request(message)]
    texts = texts_of(asking[-1]) if asking else []
    return _fixed(texts) or _remarked(texts)


def _fixed(texts: list[str]) -> SkillReply | None:
    """Return the fixed cell or other advice; None where no error is attached."""
    attached = next((text for text in texts if ERROR.match(text)), None)
    error = None if attached is None else MARKED.search(attached)
    notebook = next(filter(None, map(parse_notebook, texts)), None)
    selected = next((text for text in texts if SELECTION.match(text)), None)
    if attached is None or error is None or notebook is None or selected is None:
        return None
    found = ERROR.match(attached)
    cell = notebook.cell(found["cell"] if found else None)
    if cell is None:
        return None
    failing = replace(cell, source=_text(selected))
    message = OUTPUT_HEADER.sub("", error["text"]).partition("\n")[0]
    diagnosis = diagnose(notebook.updated([failing]), failing, message)
    match diagnosis:
        case Edit(source=source):
            return SkillReply("\n".join([f"{FENCE}python", source, FENCE]))
        case RunFirst(cells=cells, why=why):
            return SkillReply(f"{why}. Run {listed(list(cells))} first, then this cell.")
        case _:
            return SkillReply(diagnosis.advice)


def _remarked(texts: list[str]) -> SkillReply:
    """Return the selected text, or a new cell, with a remark on top."""
    selected = next((text for text in texts if SELECTION.match(text)), None)
    is_prose = selected is not None and _is_prose(selected, texts)
    asked = shortened(spoken(texts), SHOWN)
    remark = f"Demo (no AI model): asked for “{asked}”."
    lines = [f"*{remark}*\n" if is_prose else f"# {remark}"]
    if selected is not None:
        lines.append(_text(selected))
    language = "markdown" if is_prose else "python"
    return SkillReply("\n".join([f"{FENCE}{language}", *lines, FENCE]))


def _text(selected: str) -> str:
    """Return the text to replace."""
    marked = MARKED.search(selected)
    text = marked["text"] if marked else ""
    between = BETWEEN.search(text) if ", between ⟦" in selected.partition("\n")[0] else None
    return between[1] if between else text


def _is_prose(selected: str, texts: list[str]) -> bool:
    """Return whether the text is in a Markdown cell or file."""
    found = SELECTION.match(selected)
    cell, path = (found["cell"], found["path"]) if found else (None, "")
    if cell is None:
        return path.partition(", ")[0].endswith((".md", ".txt", ".rst"))
    header = re.compile(rf"^--- cell \d+ · id={re.escape(cell)} · (?:markdown|raw)", re.MULTILINE)
    return any(header.search(text) for text in texts)
