"""Writes a todo list from the state of the notebook: failing cells and cells never run.

The list goes to the ``todo`` tool where that is offered.
"""

from __future__ import annotations

from collections.abc import Iterator

from jupyter_ai_shoulders.providers.demo.conversation import Task
from jupyter_ai_shoulders.providers.demo.notebook import ParsedNotebook
from jupyter_ai_shoulders.providers.demo.skill_protocol import Skill, SkillCall, refused
from jupyter_ai_shoulders.providers.demo.skills.notebook_steps import listed, read

MAX_ITEMS = 100
MAX_NAMED = 20


def checklist(task: Task) -> Skill:
    """List the open items of the notebook."""
    notebook = yield from read(task, outputs=True, say="I'll see what is left in the notebook.")
    items = list(open_items(notebook))[:MAX_ITEMS]
    if not items:
        return "Nothing is left that I can see: every code cell was run and none shows an error."
    markdown = "\n".join(f"- [ ] {item}" for item in items)
    if "todo" not in task.tools:
        return f"What is left in `{notebook.path}`:\n\n{markdown}"
    outcome = yield SkillCall("todo", {"markdown": markdown})
    if outcome.is_error:
        raise refused(outcome, "write the list")
    count = "1 thing is" if len(items) == 1 else f"{len(items)} things are"
    return f"{count} left in `{notebook.path}`, as the list shows."


def open_items(notebook: ParsedNotebook) -> Iterator[str]:
    """Yield the open items, cell by cell."""
    for cell in notebook.code:
        if cell.failed:
            error = f" ({cell.error.partition(':')[0]})" if cell.error else ""
            yield f"Fix cell {cell.number}{error}"
    waiting = [cell for cell in notebook.code if cell.run_count is None and cell.source.strip()]
    if waiting:
        some = listed(waiting) if len(waiting) <= MAX_NAMED else f"{len(waiting)} cells"
        yield f"Run {some}, not run yet"
