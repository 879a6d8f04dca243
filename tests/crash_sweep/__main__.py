"""The command ``python -m tests.crash_sweep``; exits with 1 after a violation."""

from __future__ import annotations

import argparse
import asyncio
import shutil
import sys
import tempfile
from pathlib import Path

from tests.crash_sweep.crash_points import list_crash_points
from tests.crash_sweep.random_kills import kill_at_random
from tests.crash_sweep.scenarios import NAMES, SCENARIOS
from tests.crash_sweep.sweep import Report, sweep

MEMORY = Path("/dev/shm")
ELSEWHERE = ("schedules.", "agent_database.")
"""Points that ``tests.crash_sweep.schedule_kills`` and ``tests/storage/agent_database`` hit."""


def main() -> int:
    """Run the requested sweep."""
    options = _options()
    if options.random:
        return _random(options)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        report = asyncio.run(
            sweep(
                Path(folder) / "sweep",
                scenarios=[NAMES[name] for name in options.scenario] or SCENARIOS,
                every=options.every,
                workers=options.workers,
                keep=options.keep,
                say=_say,
            )
        )
    missed = (
        []
        if options.scenario or options.every > 1
        else sorted(
            name
            for name in list_crash_points().keys() - report.met
            if not name.startswith(ELSEWHERE)
        )
    )
    _print(report, missed)
    return 1 if report.violations or missed else 0


def _random(options: argparse.Namespace) -> int:
    with tempfile.TemporaryDirectory() as folder:
        tally = kill_at_random(
            Path(folder),
            kills=options.random,
            seed=options.seed,
            servers=options.workers,
            say=_say,
        )
        if tally.violations and options.keep is not None:
            shutil.copytree(folder, options.keep, dirs_exist_ok=True)
    for violation in tally.violations:
        _say(f"VIOLATION {violation}")
    _say(
        f"{tally.kills} kills at random moments (seed {options.seed}), {tally.events} events, "
        f"conversations left {tally.statuses}, a message accepted at the latest "
        f"{tally.slowest_accept:.1f} s after the start, {tally.orphans} kernels left behind, "
        f"{len(tally.violations)} violations"
    )
    return 1 if tally.violations else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser("python -m tests.crash_sweep", description=__doc__)
    parser.add_argument("--scenario", action="append", default=[], choices=list(NAMES))
    parser.add_argument("--every", type=int, default=1, help="kill only at each so many-th point")
    parser.add_argument("--random", type=int, help="kill a real server at so many random moments")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--keep", type=Path, help="where to copy cases with violations")
    return parser.parse_args()


def _print(report: Report, missed: list[str]) -> None:
    for name, file in sorted(list_crash_points().items()):
        kills = report.killed_at[name]
        _say(f"  {name:32} {report.met[name]:5} cases met it, {kills:5} died there  ({file})")
    for violation in report.violations:
        _say(f"VIOLATION {violation}")
    for name in missed:
        _say(f"NEVER HIT {name}")
    _say(
        f"{len(report.points_of)} scripted turns, {report.cases} runs, {report.kills} kills at "
        f"{len(report.killed_at)} of {len(list_crash_points())} distinct points, "
        f"{len(report.violations)} violations, {len(missed)} points never hit, "
        f"{report.seconds:.0f} s"
    )


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
