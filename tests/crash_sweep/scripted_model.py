"""The model scripts and notebooks of the sweep.

Used by ``tests.crash_sweep.scenarios``. ``{effects}`` in files and scripts is the file to which
cells write a line in each run; a source with ``# once: label`` may be in a notebook only once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.simulator_process import calls, notebook, says

Made = tuple[str, Mapping[str, Any]]
"""A call: the tool and its arguments."""

COUNT = "open('{effects}', 'a').write('ran\\n')"
TEXT = "One two three four."
SLOW = {"event_delay": 0.01}
TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"

LONG_OUTPUT = "print('x' * 60_000)"
PRINTING = f"{COUNT}\nimport time\nfor i in range(6): print(i, flush=True), time.sleep(0.1)"
WAITING = f"{COUNT}\nimport time\nfor i in range(15): time.sleep(0.1)"
ASKING = f"{COUNT}\nprint('Hello', input('Name? '))"

SEEN = "cell 1 · id=c1"
"""Part of the result of ``READ``."""
RAN = "finished: ok"
"""Part of the result of a run."""
STILL_RUNNING = "Still running"
"""Part of the result of a call that moved to the background."""


def notebook_with(**more: str) -> dict[str, str]:
    """Return a notebook with one cell that counts its runs, and further cells."""
    return {"a.ipynb": notebook(("c1", COUNT), *more.items())}


NOTEBOOK = notebook_with(c2="x = 1")


def script(
    *first: Mapping[str, Any],
    then: Mapping[str, Mapping[str, Any]] | None = None,
    replies: tuple[Mapping[str, Any], ...] = (),
) -> dict[str, Any]:
    """A model that answers with ``first``, and to results that contain a text as ``then`` says."""
    rules: list[dict[str, Any]] = [{"when": {"user": "^Go on"}, "reply": says("All is well.")}]
    rules += [{"when": {"user": "Please", "has_results": False}, "reply": reply} for reply in first]
    rules += [
        {"when": {"tool_result": f"(?s)^.*{mark}"}, "reply": reply}
        for mark, reply in (then or {}).items()
    ]
    return {"replies": list(replies), "rules": rules, "default": says("Done.")}


def reads(then: Mapping[str, Any]) -> dict[str, Any]:
    """A model that reads the notebook and continues with ``then``."""
    return script(several(READ), then={SEEN: then})


def several(*made: Made) -> dict[str, Any]:
    """A reply with several calls."""
    parts = [{"kind": "tool", "name": name, "arguments": dict(args)} for name, args in made]
    return {"parts": [{"kind": "text", "text": "I will."}, *parts]}


def on_notebook(tool: str, **arguments: Any) -> Made:
    """A call on the notebook."""
    return tool, {"path": "a.ipynb", **arguments}


def edited(source: str) -> Made:
    """A call that changes the second cell."""
    return on_notebook("edit_cell", cell_id="c2", source=source)


def run_cell(cell: str = "c1") -> dict[str, Any]:
    """A reply that runs a cell."""
    return calls(*on_notebook("run_cell", cell_id=cell))


READ = on_notebook("read_notebook")
EDITS = (
    edited("x = 3"),
    on_notebook("add_cell", source="z = 3  # once: z", after="c2"),
    on_notebook("delete_cell", cell_id="c1"),
)

FILES = {"a.py": "x = 1\n", "b.py": "y = 1\n", "c.py": "z = 1\n"}
FILE_SEEN = "x = 1"
FILE_EDITS = (
    ("edit_file", {"path": "a.py", "old_string": "x = 1", "new_string": "x = 2"}),
    ("create_file", {"path": "made/new.py", "content": "new = 1\n"}),
    ("duplicate_file", {"path": "a.py", "new_path": "copy.py"}),
    ("rename_file", {"path": "b.py", "new_path": "moved.py"}),
    ("delete_file", {"path": "c.py"}),
)
COMMANDS = (
    ("run_command", {"command": "mkdir made && cp a.py made/new.py && mv b.py moved.py"}),
    ("run_command", {"command": "rm c.py && rm -r made"}),
)
FILE_OUTCOMES: dict[str, tuple[str, ...]] = {
    "a.py": ("x = 2\n",),
    "b.py": ("",),
    "c.py": ("",),
    "copy.py": ("", "x = 1\n", "x = 2\n"),
    "moved.py": ("", "y = 1\n"),
    "made/new.py": ("", "new = 1\n", "x = 1\n"),
}
"""Each file is unchanged, in its new form, or absent where it was to be created or removed."""
