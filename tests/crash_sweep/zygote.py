"""Imports everything and forks a child for each order, since starting Python costs a second.

A process of ``tests.crash_sweep.sweep``: reads one order per line, answers with the child's exit
status.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import logging
import os
import signal
import sys
import traceback

from jupyter_ai_shoulders.host.preload import import_for_turns
from tests.crash_sweep.child_process import Order, perform

CHILD_SECONDS = 60


def main() -> None:
    """Serve orders until the parent is gone."""
    import_for_turns()
    for line in sys.stdin:
        order = Order(**json.loads(line))
        if order.phase == "warm":
            perform(order)
            gc.collect()
            gc.freeze()  # otherwise each child's garbage collections copy all pages
            print(json.dumps({"code": 0}), flush=True)  # noqa: T201 the answer
            continue
        pid = os.fork()
        if pid == 0:
            _child(order)
        _, status = os.waitpid(pid, 0)
        print(json.dumps({"code": os.waitstatus_to_exitcode(status)}), flush=True)  # noqa: T201 the answer


def _child(order: Order) -> None:
    """Execute the order and end at once."""
    code = 1
    signal.alarm(CHILD_SECONDS)
    faulthandler.dump_traceback_later(CHILD_SECONDS - 5)
    try:
        logging.basicConfig(level=logging.WARNING)
        perform(order)
        code = 0
    except BaseException:  # noqa: BLE001 the process ends here, and its log says why
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    main()
