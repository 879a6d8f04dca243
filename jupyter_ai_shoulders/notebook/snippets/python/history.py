"""Keeps the results of the user's runs (``_``, ``Out``) when the agent runs code between them.

Runs in the kernel before scratch code; sent by ``notebook.execution.scratch_runner``. IPython
stores every displayed result, even of a run outside the history: the guard lets the next run show
its results without storing them.
"""

from __future__ import annotations

import sys
from typing import Any

GUARD = "_agent_runs_next"
LAST_ERROR = ("last_exc", "last_type", "last_value", "last_traceback")
"""The state that ``%debug`` uses."""


def keep_history() -> None:
    """Guard the next run outside the history."""
    shell: Any = sys.modules["IPython.core.interactiveshell"].InteractiveShell.instance()
    for old in list(shell.events.callbacks["pre_run_cell"]):
        if getattr(old, "__name__", "") == GUARD:  # of a run that the kernel dropped
            shell.events.unregister("pre_run_cell", old)
    shell.events.register("pre_run_cell", guard_of(shell))


def guard_of(shell: Any) -> Any:
    def before(info: Any) -> None:
        if info.store_history or info.silent:
            return
        shell.events.unregister("pre_run_cell", before)
        restore = kept(shell)

        def after(result: Any) -> None:
            del result
            shell.events.unregister("post_run_cell", after)
            restore()

        shell.events.register("post_run_cell", after)

    before.__name__ = GUARD
    return before


def kept(shell: Any) -> Any:
    """Stop storing results; return a function that resumes it and restores the rest."""
    hook, history = shell.displayhook, shell.history_manager
    count = hook.prompt_count
    size, texts = hook.cache_size, getattr(history, "output_hist_reprs", {})
    outputs = getattr(history, "outputs", {})
    table: Any = dict
    before = table.get(texts, count), [*(table.get(outputs, count) or ())]
    errors = {name: getattr(sys, name) for name in LAST_ERROR if hasattr(sys, name)}
    hook.cache_size = 0

    def restore() -> None:
        hook.cache_size = size
        put_back(texts, count, before[0])
        put_back(outputs, count, before[1])
        for name in LAST_ERROR:
            if name in errors:
                setattr(sys, name, errors[name])
            elif hasattr(sys, name):
                delattr(sys, name)

    return restore


def put_back(table: Any, key: int, value: Any) -> None:
    if value:
        table[key] = value
    else:
        dict.pop(table, key, None)
