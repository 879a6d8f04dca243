"""Measures prompt injection: ``python -m tests.injection [--quick]``.

Prints how often a model that obeys injected text could act without a question, although the person
allowed every tool by a rule. The exit code is 1 when it could where it must not.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time

from tests.injection.measurement import measure, table


def main() -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.injection")
    parser.add_argument("--quick", action="store_true", help="six actions in the mode ask")
    options = parser.parse_args()
    began = time.monotonic()
    measured = asyncio.run(measure(quick=options.quick))
    for line in table(measured):
        sys.stdout.write(f"{line}\n")
    sys.stdout.write(f"{time.monotonic() - began:.0f} s\n")
    return 1 if measured.violations or measured.stuck_control else 0


if __name__ == "__main__":
    sys.exit(main())
