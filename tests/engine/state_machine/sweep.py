"""The long run of the state machine: ``python -m tests.engine.state_machine.sweep --steps 50000``.

Runs rounds of programs, each from its own seed, until enough steps were made; prints the count, the
seeds and the violations. The first violation ends the run: hypothesis prints the shortest program
that shows it.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
import traceback
from functools import partial
from typing import Any, cast

from hypothesis import HealthCheck, Phase, settings
from hypothesis.errors import FlakyStrategyDefinition
from hypothesis.stateful import run_state_machine_as_test

from tests.engine.state_machine.machine import EngineMachine, Tally

ROUND = settings(
    max_examples=100,
    stateful_step_count=50,
    deadline=None,
    database=None,
    phases=(Phase.generate, Phase.shrink),
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def main() -> int:
    """Run rounds until there are enough steps; return 1 after a violation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=1, help="of the first round")
    wanted = parser.parse_args()
    logging.disable(logging.CRITICAL)  # full disks and kills would flood the log
    tally, began, seed = Tally(), time.monotonic(), wanted.seed
    violations = 0
    while tally.steps < wanted.steps and not violations:
        violations = _round(tally, seed)
        _say(f"seed {seed}: {tally.steps} steps in {tally.machines} programs")
        seed += 1
    _say(
        f"{tally.steps} steps, {tally.machines} programs, seeds {wanted.seed} to {seed - 1}, "
        f"{time.monotonic() - began:.0f} s: {violations} violations"
    )
    _say(", ".join(f"{name} {count}" for name, count in sorted(tally.events.items())))
    return 1 if violations else 0


def _round(tally: Tally, seed: int) -> int:
    machine = partial(EngineMachine, tally)
    machine.__dict__["_hypothesis_internal_use_seed"] = seed  # as ``@hypothesis.seed`` does
    try:
        run_state_machine_as_test(cast("Any", machine), settings=ROUND)  # accepts a factory
    except FlakyStrategyDefinition:
        _say(f"seed {seed}: broken off, a busy machine made a program take another course")
    except Exception as error:  # noqa: BLE001 whatever it is, it is reported with its program
        sys.stdout.write("".join(traceback.format_exception(error)))
        return 1
    return 0


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
