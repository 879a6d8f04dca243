"""The scripted turns of the sweep: what the user does, what the model says, which files there are.

Played by ``tests.crash_sweep.sweep``, each killed at each crash point it meets.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.crash_sweep import acts, thread_acts
from tests.crash_sweep.stage import Act, Scenario
from tests.crash_sweep.turns import (
    ASKING,
    BOOK,
    COMMANDS,
    COUNT,
    EDITS,
    FILE_EDITS,
    FILE_OUTCOMES,
    FILE_SEEN,
    FILES,
    GOES_ON,
    LONG_OUTPUT,
    PRINTING,
    RAN,
    READ,
    SLOW,
    TEXT,
    TOO_LONG,
    WAITING,
    book,
    edited,
    in_book,
    reads,
    run_cell,
    script,
    several,
)
from tests.upstream import calls, says

FILE_MODEL = script(
    several(("read_file", {"path": "a.py"})), then={FILE_SEEN: several(*FILE_EDITS)}
)


def rewriting(
    name: str, act: Act, model: Mapping[str, Any], files: Mapping[str, str] = BOOK, **more: Any
) -> Scenario:
    """Return a turn that may change the notebook into another valid one."""
    return Scenario(name, act, model, files, rewritten=("a.ipynb",), **more)


def outlasting(name: str, act: Act, model: Mapping[str, Any], code: str, **more: Any) -> Scenario:
    """Return a turn whose cell ``c3`` runs longer than its step waits."""
    return rewriting(name, act, model, book(c3=code), run_patience=0.1, **more)


def killed_while_speaking(name: str, act: Act, **more: Any) -> Scenario:
    """Return what is done after a server that died in the middle of a reply."""
    model = script(says(TEXT, **SLOW))
    died = {"prepare": acts.work, "prepare_until": "engine.delta.recorded"}
    return Scenario(name, act, model, **died, **more)


def after_death(
    name: str, act: Act, model: Mapping[str, Any], point: str, prepare: Act = acts.work
) -> Scenario:
    """Return what is done after a server that died at a point while the notebook changed."""
    return rewriting(name, act, model, prepare=prepare, prepare_until=point)


def on_files(name: str, act: Act, model: Mapping[str, Any] = FILE_MODEL, **more: Any) -> Scenario:
    """Return a turn that changes plain files."""
    return Scenario(name, act, model, FILES, outcomes=FILE_OUTCOMES, **more)


TALKS = (
    Scenario("text", acts.speak, script(says(TEXT, **SLOW))),
    Scenario("cancel", acts.cancel, script(says(TEXT * 5, event_delay=0.02))),
    Scenario("steer", acts.steer, script(says(TEXT, event_delay=0.03))),
    Scenario(
        "provider retry",
        acts.speak,
        script(
            says(TEXT),
            replies=({"failure": {"status": 529, "headers": {"retry-after-ms": "20"}}},),
        ),
    ),
    Scenario(
        "question",
        acts.answer,
        script(calls("clarify", {"question": "Which one?", "options": ["A", "B"]})),
    ),
    Scenario(
        "completion",
        acts.work,
        script(calls("complete", {"summary": "The notebook was read and every cell is in order."})),
    ),
    Scenario(
        "compaction",
        acts.overflow,
        script(says(TEXT), replies=({"failure": {"status": 400, "message": TOO_LONG}},)),
        prepare=acts.talk,
        prepare_script=script(says(TEXT)),
    ),
    Scenario("fork", acts.fork, script(says(TEXT))),
    Scenario("edited message", acts.edit_message, script(says("One."))),
    Scenario("shutdown", acts.shut_down, script(says(TEXT, event_delay=0.05))),
)

TOOLS = (
    Scenario(
        "reading tools", acts.speak, reads(several(("todo", {"markdown": "- [x] read"}))), BOOK
    ),
    rewriting(
        "parallel batch",
        acts.work,
        script(
            several(
                READ,
                ("todo", {"markdown": "- [ ] all"}),
                in_book("add_cell", source="y = 2  # once: y"),
            )
        ),
    ),
    rewriting("approval of a run", acts.approve, script(run_cell())),
    rewriting("approval for good", acts.approve_always, reads(several(edited("x = 5")))),
    Scenario("denial", acts.deny, script(several(in_book("run_cell", cell_id="c1"), READ)), BOOK),
    Scenario(
        "artifacts",
        acts.work,
        script(
            several(
                ("share_artifact", {"path": "data.csv", "description": "Data"}),
                ("share_artifact", {"content": "# Report", "filename": "report.md"}),
            )
        ),
        {"data.csv": "a,b\n1,2\n"},
    ),
    Scenario("results supplied", acts.supply, script(several(READ)), BOOK),
    Scenario("run from outside", acts.run_from_outside, script(several(READ)), BOOK),
    Scenario(
        "limit of money",
        acts.pay,
        script(several(READ), then={"": says("Paid.")}),
        BOOK,
        turn_limit=1,
    ),
)

KERNELS = (
    rewriting("cell run", acts.work, script(run_cell())),
    rewriting("kernel of our own", acts.work, script(run_cell()), shared_kernel=False),
    rewriting(
        "long output",
        acts.work,
        script(run_cell("c3")),
        book(c3=LONG_OUTPUT),
        checkpoint_bytes=50_000,
    ),
    rewriting(
        "input for a cell", acts.work, script(run_cell("c3")), book(c3=ASKING), shared_kernel=False
    ),
    Scenario(
        "code without a cell", acts.work, script(several(in_book("run_code", code=COUNT))), BOOK
    ),
    Scenario(
        "code that outlasts its call",
        acts.work,
        script(several(in_book("run_code", code=PRINTING))),
        BOOK,
        run_patience=0.1,
    ),
    outlasting("run beyond its call", acts.work, script(run_cell("c3")), PRINTING),
    outlasting(
        "interrupt of a run",
        acts.work,
        script(run_cell("c3"), then={GOES_ON: several(in_book("interrupt_kernel"))}),
        WAITING,
    ),
    rewriting(
        "restart of the kernel",
        acts.work,
        script(run_cell(), then={RAN: several(in_book("restart_kernel"))}),
        shared_kernel=False,
    ),
)

NOTEBOOKS = (
    rewriting("edits on disk", acts.work_trusted, reads(several(*EDITS))),
    Scenario("new notebook", acts.work, script(calls("create_notebook", {"path": "new.ipynb"}))),
    Scenario(
        "new notebook under a hook",
        acts.under_a_hook,
        script(calls("create_notebook", {"path": "new.ipynb"})),
    ),
    rewriting("hook after saves", acts.under_a_hook, reads(several(edited("x = 8")))),
    rewriting("restore", acts.restore, reads(several(*EDITS))),
    rewriting("restore over a change", acts.restore_over, reads(several(edited("x = 3")))),
    rewriting(
        "proposal",
        acts.propose,
        reads({**several(edited("x = 3")), "delivery": {"first_byte_delay": 0.15}}),
    ),
    rewriting("page away", acts.overlay, reads(several(edited("x = 7"))), page_grace=acts.GRACE),
    rewriting("page open", acts.in_page, reads(several(edited("x = 8")))),
    rewriting("room that was left", acts.in_room, reads(several(edited("x = 8")))),
)

CHANGES = (
    on_files("files", acts.work),
    on_files("undo of a turn", acts.undo_turn),
    on_files("undo of a turn across file systems", acts.undo_turn, split=True),
    on_files("restore of files", acts.restore_files),
    on_files("review of files", acts.review),
    on_files(
        "commands", acts.work, script(several(COMMANDS[0]), then={"mkdir": several(*COMMANDS[1:])})
    ),
    on_files("trash of long ago", acts.nothing, prepare=acts.delete, ahead_days=40),
    rewriting("review of cells", acts.review, reads(several(*EDITS))),
    on_files(
        "restart beside a change", acts.resume, prepare=acts.work, prepare_until="files.edit.synced"
    ),
    after_death(
        "restart beside a change of a cell",
        acts.resume,
        reads(several(edited("x = 3"))),
        "restore.rows.begun",
    ),
)

RESTARTS = (
    outlasting(
        "restart beside a run",
        acts.resume,
        script(run_cell("c3")),
        PRINTING,
        prepare=acts.work,
        prepare_until="tools.result.recorded",
    ),
    after_death(
        "restore of an interrupted turn",
        acts.restore_interrupted,
        reads(several(edited("x = 3"))),
        "restore.deed.recorded",
    ),
    after_death("restart and resume", acts.resume, script(run_cell()), "tools.effect.done"),
    after_death(
        "restart and resume an edit",
        acts.resume,
        reads(several(edited("x = 3"))),
        "disk.replace.synced",
    ),
    after_death(
        "restart and return of the page",
        acts.return_with_edit,
        reads(several(edited("x = 9"))),
        "live.page.applied",
        acts.edit_in_page,
    ),
    killed_while_speaking(
        "restart in the middle of a paid call", acts.resume, turn_limit=10_000_000
    ),
    killed_while_speaking("restart and discard", acts.discard),
    killed_while_speaking(
        "event nobody understands", acts.nothing, spoil=acts.poison, sets_aside=True
    ),
    Scenario(
        "message sent again",
        acts.send_again,
        script(says(TEXT)),
        prepare=acts.work,
        prepare_until="log.session.committed",
        prepare_at=2,
    ),
    Scenario(
        "damaged database",
        acts.nothing,
        script(several(READ)),
        BOOK,
        prepare=acts.work,
        spoil=acts.damage,
    ),
    Scenario(
        "deleted long ago",
        acts.nothing,
        script(several(READ)),
        BOOK,
        prepare=acts.delete,
        ahead_days=40,
    ),
)

OPENS_TASK = script(calls("add_task", {"path": "a.py", "quote": "x = 1", "prompt": "Please look."}))
THREADS = (
    Scenario("threads that travel", thread_acts.travel, script(says(TEXT)), BOOK),
    on_files("task opened by the agent", thread_acts.open_task, OPENS_TASK),
    on_files(
        "task without its prompt",
        acts.nothing,
        OPENS_TASK,
        prepare=thread_acts.open_task,
        prepare_until="threads.session.created",
    ),
    rewriting("proposal of a thread", thread_acts.apply_and_run, script(says(TEXT))),
    rewriting(
        "run nobody was told of",
        acts.nothing,
        script(says(TEXT)),
        prepare=thread_acts.apply_and_run,
        prepare_until="proposals.cell.ran",
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
)
NAMES = {scenario.name: scenario for scenario in SCENARIOS}
