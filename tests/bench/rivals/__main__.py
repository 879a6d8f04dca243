"""Measures software that others wrote beside ours; writes ``docs/benchmarks-rivals.md``.

``python -m tests.bench.rivals`` measures everything, ``python -m tests.bench.rivals litellm_proxy``
only this module (then nothing is written). What is measured is installed from PyPI the first time,
each program into a virtual environment of its own.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from inspect import cleandoc
from pathlib import Path

import psutil

from tests.bench.__main__ import BUSY_SECONDS, machine
from tests.bench.rivals.comparison import Comparison

MODULES = {
    "litellm_proxy": "Model proxy",
    "mcp_notebook_edit": "Edit step from outside",
    "lab_start": "Start of a lab",
}
"""Modules of this folder by name, in the order of the report; each has ``measure()``."""
REPORT = Path(__file__).parents[3] / "docs" / "benchmarks-rivals.md"


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.rivals", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="module", help=", ".join(MODULES))
    chosen: list[str] = parser.parse_args().modules or list(MODULES)
    if unknown := set(chosen) - set(MODULES):
        parser.error(
            f"no such module: {', '.join(sorted(unknown))}; there are {', '.join(MODULES)}"
        )
    busy = psutil.cpu_percent(BUSY_SECONDS)
    sections = [_section(name) for name in chosen]
    if len(chosen) == len(MODULES):
        REPORT.write_text("\n\n".join([_preface(busy), *sections]) + "\n")


def _section(name: str) -> str:
    module = import_module(f"tests.bench.rivals.{name}")
    began = time.monotonic()
    compared: Comparison = module.measure()
    how = cleandoc(module.__doc__ or "").partition("\n\n")[2].replace("``", "`")
    section = f"## {MODULES[name]}\n\n{how}\n\n{compared.markdown()}"
    print(f"{section}\n\n({time.monotonic() - began:.0f} s)\n", flush=True)
    return section


def _preface(busy: float) -> str:
    return f"""\
# Beside other software

Measured by `make bench-rivals` on {machine()}.
Other programs used {busy:.0f} % of the machine when it began.

Ours and the software of others do the same work in the same run, in turn. Values are medians; the
quartiles stand in brackets. Each program runs in a virtual environment of its own, with the newest
version that pip installs; nothing is tuned except as described. Client, simulated provider and
servers share the cores, so look at ratios and CPU times first. The figures of ours against its
goals are in [benchmarks.md](benchmarks.md)."""


if __name__ == "__main__":
    main()
