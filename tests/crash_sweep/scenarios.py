"""The scripted turns of the sweep: user actions, model scripts and files.

Played by ``tests.crash_sweep.sweep``, each killed at each crash point it hits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.crash_sweep import thread_actions, user_actions
from tests.crash_sweep.host_run import Act, Scenario
from tests.crash_sweep.scripted_model import (
    ASKING,
    COMMANDS,
    COUNT,
    EDITS,
    FILE_EDITS,
    FILE_OUTCOMES,
    FILE_SEEN,
    FILES,
    LONG_OUTPUT,
    NOTEBOOK,
    PRINTING,
    RAN,
    READ,
    SLOW,
    STILL_RUNNING,
    TEXT,
    TOO_LONG,
    WAITING,
    edited,
    notebook_with,
    on_notebook,
    reads,
    run_cell,
    script,
    several,
)
from tests.simulator_process import calls, says

FILE_MODEL = script(
    several(("read_file", {"path": "a.py"})), then={FILE_SEEN: several(*FILE_EDITS)}
)


def rewriting(
    name: str, act: Act, model: Mapping[str, Any], files: Mapping[str, str] = NOTEBOOK, **more: Any
) -> Scenario:
    """Return a turn that may change the notebook into another valid one."""
    return Scenario(name, act, model, files, rewritten=("a.ipynb",), **more)


def outlasting(name: str, act: Act, model: Mapping[str, Any], code: str, **more: Any) -> Scenario:
    """Return a turn whose cell ``c3`` runs longer than its step waits."""
    return rewriting(name, act, model, notebook_with(c3=code), run_patience=0.1, **more)


def killed_while_speaking(name: str, act: Act, **more: Any) -> Scenario:
    """Return an action after a server died in the middle of a reply."""
    model = script(says(TEXT, **SLOW))
    died = {"prepare": user_actions.work, "prepare_until": "engine.delta.recorded"}
    return Scenario(name, act, model, **died, **more)


def after_death(
    name: str, act: Act, model: Mapping[str, Any], point: str, prepare: Act = user_actions.work
) -> Scenario:
    """Return an action after a server died at a point while the notebook changed."""
    return rewriting(name, act, model, prepare=prepare, prepare_until=point)


def on_files(name: str, act: Act, model: Mapping[str, Any] = FILE_MODEL, **more: Any) -> Scenario:
    """Return a turn that changes plain files."""
    return Scenario(name, act, model, FILES, outcomes=FILE_OUTCOMES, **more)


TALKS = (
    Scenario("text", user_actions.speak, script(says(TEXT, **SLOW))),
    Scenario("cancel", user_actions.cancel, script(says(TEXT * 5, event_delay=0.02))),
    Scenario("steer", user_actions.steer, script(says(TEXT, event_delay=0.03))),
    Scenario(
        "provider retry",
        user_actions.speak,
        script(
            says(TEXT),
            replies=({"failure": {"status": 529, "headers": {"retry-after-ms": "20"}}},),
        ),
    ),
    Scenario(
        "question",
        user_actions.answer,
        script(calls("clarify", {"question": "Which one?", "options": ["A", "B"]})),
    ),
    Scenario(
        "completion",
        user_actions.work,
        script(calls("complete", {"summary": "The notebook was read and every cell is in order."})),
    ),
    Scenario(
        "compaction",
        user_actions.overflow,
        script(says(TEXT), replies=({"failure": {"status": 400, "message": TOO_LONG}},)),
        prepare=user_actions.talk,
        prepare_script=script(says(TEXT)),
    ),
    Scenario("fork", user_actions.fork, script(says(TEXT))),
    Scenario("edited message", user_actions.edit_message, script(says("One."))),
    Scenario("shutdown", user_actions.shut_down, script(says(TEXT, event_delay=0.05))),
)

TOOLS = (
    Scenario(
        "reading tools",
        user_actions.speak,
        reads(several(("todo", {"markdown": "- [x] read"}))),
        NOTEBOOK,
    ),
    rewriting(
        "parallel batch",
        user_actions.work,
        script(
            several(
                READ,
                ("todo", {"markdown": "- [ ] all"}),
                on_notebook("add_cell", source="y = 2  # once: y"),
            )
        ),
    ),
    rewriting("approval of a run", user_actions.approve, script(run_cell())),
    rewriting("approval for good", user_actions.approve_always, reads(several(edited("x = 5")))),
    Scenario(
        "denial",
        user_actions.deny,
        script(several(on_notebook("run_cell", cell_id="c1"), READ)),
        NOTEBOOK,
    ),
    Scenario(
        "artifacts",
        user_actions.work,
        script(
            several(
                ("share_artifact", {"path": "data.csv", "description": "Data"}),
                ("share_artifact", {"content": "# Report", "filename": "report.md"}),
            )
        ),
        {"data.csv": "a,b\n1,2\n"},
    ),
    Scenario("results supplied", user_actions.supply, script(several(READ)), NOTEBOOK),
    Scenario("run from outside", user_actions.run_from_outside, script(several(READ)), NOTEBOOK),
    Scenario(
        "limit of money",
        user_actions.pay,
        script(several(READ), then={"": says("Paid.")}),
        NOTEBOOK,
        turn_limit=1,
    ),
)

KERNELS = (
    rewriting("cell run", user_actions.work, script(run_cell())),
    rewriting("kernel of our own", user_actions.work, script(run_cell()), shared_kernel=False),
    rewriting(
        "long output",
        user_actions.work,
        script(run_cell("c3")),
        notebook_with(c3=LONG_OUTPUT),
        checkpoint_bytes=50_000,
    ),
    rewriting(
        "input for a cell",
        user_actions.work,
        script(run_cell("c3")),
        notebook_with(c3=ASKING),
        shared_kernel=False,
    ),
    Scenario(
        "code without a cell",
        user_actions.work,
        script(several(on_notebook("run_code", code=COUNT))),
        NOTEBOOK,
    ),
    Scenario(
        "code that outlasts its call",
        user_actions.work,
        script(several(on_notebook("run_code", code=PRINTING))),
        NOTEBOOK,
        run_patience=0.1,
    ),
    outlasting("run beyond its call", user_actions.work, script(run_cell("c3")), PRINTING),
    outlasting(
        "interrupt of a run",
        user_actions.work,
        script(run_cell("c3"), then={STILL_RUNNING: several(on_notebook("interrupt_kernel"))}),
        WAITING,
    ),
    rewriting(
        "restart of the kernel",
        user_actions.work,
        script(run_cell(), then={RAN: several(on_notebook("restart_kernel"))}),
        shared_kernel=False,
    ),
)

NOTEBOOKS = (
    rewriting("edits on disk", user_actions.work_trusted, reads(several(*EDITS))),
    Scenario(
        "new notebook", user_actions.work, script(calls("create_notebook", {"path": "new.ipynb"}))
    ),
    Scenario(
        "new notebook under a hook",
        user_actions.under_a_hook,
        script(calls("create_notebook", {"path": "new.ipynb"})),
    ),
    rewriting("hook after saves", user_actions.under_a_hook, reads(several(edited("x = 8")))),
    rewriting("restore", user_actions.restore, reads(several(*EDITS))),
    rewriting("restore over a change", user_actions.restore_over, reads(several(edited("x = 3")))),
    rewriting(
        "proposal",
        user_actions.propose,
        reads({**several(edited("x = 3")), "delivery": {"first_byte_delay": 0.15}}),
    ),
    rewriting(
        "page away",
        user_actions.overlay,
        reads(several(edited("x = 7"))),
        page_grace=user_actions.GRACE,
    ),
    rewriting("page open", user_actions.in_page, reads(several(edited("x = 8")))),
    rewriting("room that was left", user_actions.in_room, reads(several(edited("x = 8")))),
)

CHANGES = (
    on_files("files", user_actions.work),
    on_files("undo of a turn", user_actions.undo_turn),
    on_files("undo of a turn across file systems", user_actions.undo_turn, split=True),
    on_files("restore of files", user_actions.restore_files),
    on_files("review of files", user_actions.review),
    on_files(
        "commands",
        user_actions.work,
        script(several(COMMANDS[0]), then={"mkdir": several(*COMMANDS[1:])}),
    ),
    on_files("trash of long ago", user_actions.nothing, prepare=user_actions.delete, ahead_days=40),
    rewriting("review of cells", user_actions.review, reads(several(*EDITS))),
    on_files(
        "restart beside a change",
        user_actions.resume,
        prepare=user_actions.work,
        prepare_until="files.edit.synced",
    ),
    after_death(
        "restart beside a change of a cell",
        user_actions.resume,
        reads(several(edited("x = 3"))),
        "restore.rows.begun",
    ),
)

RESTARTS = (
    outlasting(
        "restart beside a run",
        user_actions.resume,
        script(run_cell("c3")),
        PRINTING,
        prepare=user_actions.work,
        prepare_until="tools.result.recorded",
    ),
    after_death(
        "restore of an interrupted turn",
        user_actions.restore_interrupted,
        reads(several(edited("x = 3"))),
        "restore.deed.recorded",
    ),
    after_death("restart and resume", user_actions.resume, script(run_cell()), "tools.effect.done"),
    after_death(
        "restart and resume an edit",
        user_actions.resume,
        reads(several(edited("x = 3"))),
        "disk.replace.synced",
    ),
    after_death(
        "restart and return of the page",
        user_actions.return_with_edit,
        reads(several(edited("x = 9"))),
        "live.page.applied",
        user_actions.edit_in_page,
    ),
    killed_while_speaking(
        "restart in the middle of a paid call", user_actions.resume, turn_limit=10_000_000
    ),
    killed_while_speaking("restart and discard", user_actions.discard),
    killed_while_speaking(
        "event nobody understands",
        user_actions.nothing,
        spoil=user_actions.poison,
        quarantines=True,
    ),
    Scenario(
        "message sent again",
        user_actions.send_again,
        script(says(TEXT)),
        prepare=user_actions.work,
        prepare_until="log.session.committed",
        prepare_at=2,
    ),
    Scenario(
        "damaged database",
        user_actions.nothing,
        script(several(READ)),
        NOTEBOOK,
        prepare=user_actions.work,
        spoil=user_actions.damage,
    ),
    Scenario(
        "deleted long ago",
        user_actions.nothing,
        script(several(READ)),
        NOTEBOOK,
        prepare=user_actions.delete,
        ahead_days=40,
    ),
)

OPENS_TASK = script(calls("add_task", {"path": "a.py", "quote": "x = 1", "prompt": "Please look."}))
THREADS = (
    Scenario("threads that travel", thread_actions.travel, script(says(TEXT)), NOTEBOOK),
    on_files("task opened by the agent", thread_actions.open_task, OPENS_TASK),
    on_files(
        "task without its prompt",
        user_actions.nothing,
        OPENS_TASK,
        prepare=thread_actions.open_task,
        prepare_until="threads.session.created",
    ),
    rewriting("proposal of a thread", thread_actions.apply_and_run, script(says(TEXT))),
    rewriting(
        "run nobody was told of",
        user_actions.nothing,
        script(says(TEXT)),
        prepare=thread_actions.apply_and_run,
        prepare_until="proposals.cell.ran",
    ),
)

AGENTS = (
    Scenario(
        "agent of others",
        user_actions.let_agent_work,
        script(says(TEXT)),
        files={"a.py": "x = 1\n"},
        outcomes={"a.py": ["x = 2\n"]},
    ),
)


def delegating(task: str, call: Mapping[str, Any]) -> dict[str, Any]:
    """A model that gives a task to a sub-agent, which makes one call and sums it up."""
    order = calls("delegate", {"task": task, "toolset": "notebook", "documents": []})
    played = script(order, then={RAN: says("Counted [a.ipynb#c1].")})
    first = {"when": {"user": f"^{task}", "has_results": False}, "reply": call}
    return {**played, "rules": [first, *played["rules"]]}


SUB_AGENTS = (
    rewriting("sub-agent", user_actions.work, delegating("Run the first cell.", run_cell())),
    rewriting(
        "sub-agent in a kernel of its own",
        user_actions.work,
        delegating(
            "Count in a kernel of your own.",
            several(on_notebook("run_in_own_kernel", code=COUNT)),
        ),
        shared_kernel=False,
    ),
)

SCENARIOS: tuple[Scenario, ...] = (
    *TALKS,
    *TOOLS,
    *KERNELS,
    *NOTEBOOKS,
    *CHANGES,
    *RESTARTS,
    *THREADS,
    *AGENTS,
    *SUB_AGENTS,
)
NAMES = {scenario.name: scenario for scenario in SCENARIOS}
