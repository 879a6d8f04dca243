"""The scripted turns of the sweep: what the user does, what the model says, which files there are.

``{effects}`` in files and scripts is the file that cells write a line to each time they run; a
source with ``# once: label`` may be in a notebook one time only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.crash_sweep.acts import (
    GRACE,
    answer,
    approve,
    approve_always,
    cancel,
    damage,
    delete,
    deny,
    discard,
    edit_in_page,
    edit_message,
    fork,
    in_page,
    in_room,
    nothing,
    overflow,
    overlay,
    pay,
    poison,
    propose,
    restore,
    restore_interrupted,
    restore_over,
    resume,
    return_with_edit,
    run_from_outside,
    send_again,
    shut_down,
    speak,
    steer,
    supply,
    talk,
    under_a_hook,
    work,
    work_trusted,
)
from tests.crash_sweep.stage import Act, Scenario
from tests.upstream import calls, notebook, says

COUNT = "open('{effects}', 'a').write('ran\\n')"
TEXT = "One two three four."
SLOW = {"event_delay": 0.01}


def script(
    *first: Mapping[str, Any], replies: tuple[Mapping[str, Any], ...] = ()
) -> dict[str, Any]:
    """A model that answers the request with ``first``, in order of the results it has seen."""
    rules: list[dict[str, Any]] = [{"when": {"user": "^Go on"}, "reply": says("All is well.")}]
    if first:
        rules.append({"when": {"user": "Please", "has_results": False}, "reply": first[0]})
    for position, reply in enumerate(first[1:], 1):
        when = {"tool_result": f"(?s)^.*{MARKS[position - 1]}"}
        rules.append({"when": when, "reply": reply})
    return {"replies": list(replies), "rules": rules, "default": says("Done.")}


MARKS = ("cell 1 · id=c1", "first mark")
"""What the results of first calls hold, to tell which step it is."""


def several(*made: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A reply that makes several calls."""
    parts = [{"kind": "tool", "name": name, "arguments": dict(args)} for name, args in made]
    return {"parts": [{"kind": "text", "text": "I will."}, *parts]}


def edit(source: str) -> dict[str, Any]:
    """A reply that changes the second cell."""
    return calls("edit_cell", {"path": "a.ipynb", "cell_id": "c2", "source": source})


def run_cell(cell: str = "c1") -> dict[str, Any]:
    """A reply that runs a cell."""
    return calls("run_cell", {"path": "a.ipynb", "cell_id": cell})


READ = ("read_notebook", {"path": "a.ipynb"})
BOOK = {"a.ipynb": notebook(("c1", COUNT), ("c2", "x = 1"))}


TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
LONG = "print('x' * 60_000)"
SLOW_CELL = f"{COUNT}\\nimport time\\nfor i in range(6): print(i, flush=True), time.sleep(0.1)"
ASKING_CELL = f"{COUNT}\nprint('Hello', input('Name? '))"


def rewriting(
    name: str, act: Act, model: Mapping[str, Any], files: Mapping[str, str] = BOOK, **more: Any
) -> Scenario:
    """Return a turn that may change the notebook into another valid one."""
    return Scenario(name, act, model, files, rewritten=("a.ipynb",), **more)


def killed_while_speaking(name: str, act: Act, **more: Any) -> Scenario:
    """Return what is done after a server that died in the middle of a reply."""
    model = script(says(TEXT, **SLOW))
    died = {"prepare": work, "prepare_until": "engine.delta.recorded"}
    return Scenario(name, act, model, **died, **more)


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("text", speak, script(says(TEXT, **SLOW))),
    Scenario(
        "reading tools",
        speak,
        script(several(READ), several(("todo", {"markdown": "- [x] read"}))),
        BOOK,
    ),
    rewriting(
        "parallel batch",
        work,
        script(
            several(
                READ,
                ("todo", {"markdown": "- [ ] all"}),
                ("add_cell", {"path": "a.ipynb", "source": "y = 2  # once: y"}),
            )
        ),
    ),
    rewriting("approval of a run", approve, script(run_cell())),
    rewriting("approval for good", approve_always, script(several(READ), edit("x = 5"))),
    Scenario(
        "denial",
        deny,
        script(several(("run_cell", {"path": "a.ipynb", "cell_id": "c1"}), READ)),
        BOOK,
    ),
    Scenario(
        "question",
        answer,
        script(calls("clarify", {"question": "Which one?", "options": ["A", "B"]})),
    ),
    rewriting("cell run", work, script(run_cell())),
    rewriting(
        "long output",
        work,
        script(run_cell("c3")),
        {"a.ipynb": notebook(("c1", COUNT), ("c3", LONG))},
        checkpoint_bytes=50_000,
    ),
    rewriting(
        "run beyond its call",
        work,
        script(run_cell("c3")),
        {"a.ipynb": notebook(("c1", COUNT), ("c3", SLOW_CELL))},
        run_patience=0.1,
    ),
    rewriting(
        "restart beside a run",
        resume,
        script(run_cell("c3")),
        {"a.ipynb": notebook(("c1", COUNT), ("c3", SLOW_CELL))},
        prepare=work,
        prepare_until="tools.result.recorded",
        run_patience=0.1,
    ),
    Scenario(
        "input for a cell",
        work,
        script(run_cell("c3")),
        {"a.ipynb": notebook(("c1", COUNT), ("c3", ASKING_CELL))},
        rewritten=("a.ipynb",),
        shared_kernel=False,
    ),
    rewriting("kernel of our own", work, script(run_cell()), shared_kernel=False),
    rewriting(
        "edits on disk",
        work_trusted,
        script(
            several(READ),
            several(
                ("edit_cell", {"path": "a.ipynb", "cell_id": "c2", "source": "x = 3"}),
                ("add_cell", {"path": "a.ipynb", "source": "z = 3  # once: z", "after": "c2"}),
                ("delete_cell", {"path": "a.ipynb", "cell_id": "c1"}),
            ),
        ),
    ),
    rewriting(
        "restore",
        restore,
        script(
            several(READ),
            several(
                ("edit_cell", {"path": "a.ipynb", "cell_id": "c2", "source": "x = 3"}),
                ("add_cell", {"path": "a.ipynb", "source": "z = 3  # once: z", "after": "c2"}),
                ("delete_cell", {"path": "a.ipynb", "cell_id": "c1"}),
            ),
        ),
    ),
    rewriting("restore over a change", restore_over, script(several(READ), edit("x = 3"))),
    rewriting(
        "restore of an interrupted turn",
        restore_interrupted,
        script(several(READ), edit("x = 3")),
        prepare=work,
        prepare_until="restore.deed.recorded",
    ),
    rewriting(
        "proposal",
        propose,
        script(
            several(READ),
            {
                **several(("edit_cell", {"path": "a.ipynb", "cell_id": "c2", "source": "x = 3"})),
                "delivery": {"first_byte_delay": 0.15},
            },
        ),
    ),
    Scenario(
        "artifacts",
        work,
        script(
            several(
                ("share_artifact", {"path": "data.csv", "description": "Data"}),
                ("share_artifact", {"content": "# Report", "filename": "report.md"}),
            )
        ),
        {"data.csv": "a,b\n1,2\n"},
    ),
    Scenario(
        "completion",
        work,
        script(calls("complete", {"summary": "The notebook was read and every cell is in order."})),
    ),
    Scenario("cancel", cancel, script(says(TEXT * 5, event_delay=0.02))),
    Scenario("steer", steer, script(says(TEXT, event_delay=0.03))),
    Scenario(
        "provider retry",
        speak,
        script(
            says(TEXT),
            replies=({"failure": {"status": 529, "headers": {"retry-after-ms": "20"}}},),
        ),
    ),
    Scenario("results supplied", supply, script(several(READ)), BOOK),
    Scenario("run from outside", run_from_outside, script(several(READ)), BOOK),
    rewriting("page away", overlay, script(several(READ), edit("x = 7")), page_grace=GRACE),
    rewriting("page open", in_page, script(several(READ), edit("x = 8"))),
    rewriting("room that was left", in_room, script(several(READ), edit("x = 8"))),
    rewriting("hook after saves", under_a_hook, script(several(READ), edit("x = 8"))),
    Scenario("limit of money", pay, script(several(READ), says("Paid.")), BOOK, turn_limit=1),
    Scenario("shutdown", shut_down, script(says(TEXT, event_delay=0.05))),
    rewriting(
        "restart and resume",
        resume,
        script(run_cell()),
        prepare=work,
        prepare_until="tools.effect.done",
    ),
    rewriting(
        "restart and resume an edit",
        resume,
        script(several(READ), edit("x = 3")),
        prepare=work,
        prepare_until="disk.replace.synced",
    ),
    rewriting(
        "restart and return of the page",
        return_with_edit,
        script(several(READ), edit("x = 9")),
        prepare=edit_in_page,
        prepare_until="live.page.applied",
    ),
    killed_while_speaking("restart in the middle of a paid call", resume, turn_limit=10_000_000),
    Scenario(
        "message sent again",
        send_again,
        script(says(TEXT)),
        prepare=work,
        prepare_until="log.session.committed",
        prepare_at=2,
    ),
    killed_while_speaking("event nobody understands", nothing, spoil=poison, sets_aside=True),
    killed_while_speaking("restart and discard", discard),
    Scenario(
        "compaction",
        overflow,
        script(says(TEXT), replies=({"failure": {"status": 400, "message": TOO_LONG}},)),
        prepare=talk,
        prepare_script=script(says(TEXT)),
    ),
    Scenario("damaged database", nothing, script(several(READ)), BOOK, prepare=work, spoil=damage),
    Scenario("fork", fork, script(says(TEXT))),
    Scenario("edited message", edit_message, script(says("One."), says("Two."))),
    Scenario(
        "deleted long ago", nothing, script(several(READ)), BOOK, prepare=delete, ahead_days=40
    ),
)

NAMES = {scenario.name: scenario for scenario in SCENARIOS}
