"""Importing our names in a kernel: CPU milliseconds and loaded modules.

Each import runs in a new process that has loaded ipykernel, as every kernel has. The floor of
``ChatPanel`` is anywidget, whose widget class it extends; ``Client`` has none. The first call loads
the HTTP library and the wire models.
"""

from __future__ import annotations

import subprocess
import sys

from tests.bench.figures import Figure, Goal, spread

RUNS = 9
CPU_MS = 80
_PROGRAM = """
import sys, time
import IPython.core.completer, ipykernel.kernelapp
before, began = set(sys.modules), time.process_time()
{statement}
print((time.process_time() - began) * 1e3, len(set(sys.modules) - before))
"""
_CLIENT = "from jupyter_ai_shoulders import Client"
_BOTH = "from jupyter_ai_shoulders import ChatPanel, Client"
_CALL = """
from jupyter_ai_shoulders import Client
from jupyter_ai_shoulders.client import Unreachable
try:
    Client("http://127.0.0.1:9/").status()
except Unreachable:
    pass
"""


def measure() -> list[Figure]:
    """Run each import in new processes, in turn."""
    statements = (_CLIENT, _BOTH, _CALL, "import anywidget")
    for statement in statements:
        _import(statement)  # files come from the disk once
    taken: dict[str, list[tuple[float, int]]] = {statement: [] for statement in statements}
    for _ in range(RUNS):
        for statement, samples in taken.items():
            samples.append(_import(statement))
    cpu = {key: spread([ms for ms, _ in samples]) for key, samples in taken.items()}
    modules = {key: spread([count for _, count in samples]) for key, samples in taken.items()}
    goal = Goal("at most", CPU_MS)
    widget = "import anywidget"
    return [
        Figure("CPU of importing Client", "ms", cpu[_CLIENT], goal=goal),
        Figure("CPU of importing Client and ChatPanel", "ms", cpu[_BOTH], cpu[widget], goal),
        Figure("CPU of that and a first call, Client only", "ms", cpu[_CALL]),
        Figure("modules of Client and ChatPanel", "", modules[_BOTH], modules[widget]),
    ]


def _import(statement: str) -> tuple[float, int]:
    """Return the CPU milliseconds and the number of modules that a statement costs."""
    ran = subprocess.run(
        [sys.executable, "-c", _PROGRAM.format(statement=statement)],
        capture_output=True,
        text=True,
        check=True,
    )
    cpu, modules = ran.stdout.split()
    return float(cpu), int(modules)
