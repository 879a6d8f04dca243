"""Check that the versions declared in ``pyproject.toml`` work, the lowest and the newest.

Builds the wheel, makes two virtual environments with nothing else, installs the package with the
lowest allowed version of every direct dependency in one and the newest in the other, and does the
main job in each. Takes some minutes and the network of package indexes, so it is no part of
``make test``. Run by ``make versions`` before a release.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from packaging.utils import canonicalize_name

from tests.dependency_versions import declared_versions
from tests.dependency_versions.environment import Environment, StepFailed, build_wheel
from tests.dependency_versions.smoke_test import STEPS

NAMES = ("lowest", "newest")
Row = tuple[str, ...]


def main() -> int:
    """Try both; print what was installed and how it went; return 1 when anything failed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.dependency_versions", description=__doc__
    )
    parser.add_argument("--only", choices=NAMES, help="try only these versions")
    only: str | None = parser.parse_args().only
    names = [only] if only else list(NAMES)
    with tempfile.TemporaryDirectory(prefix="versions-", ignore_cleanup_errors=True) as folder:
        wheel = build_wheel(Path(folder))
        tried = [
            _tried(Environment(Path(folder) / name, name == "lowest"), wheel) for name in names
        ]
    _print_table(("package", *names), _columns([versions for versions, _ in tried]))
    _print_table(("step", *names), _columns([results for _, results in tried]))
    return int(any(text.startswith("FAILED") for _, results in tried for text in results.values()))


def _tried(environment: Environment, wheel: Path) -> tuple[dict[str, str], dict[str, str]]:
    """Return the installed versions of direct dependencies, and how each step went."""
    name = environment.folder.name
    results: dict[str, str] = {}

    def done(step: str, work: Callable[[], str]) -> bool:
        started = time.monotonic()
        try:
            said = work()
        except (
            StepFailed,
            subprocess.TimeoutExpired,
            AssertionError,
            LookupError,
            OSError,
        ) as error:
            print(f"{name}, {step}: FAILED\n{error}", flush=True)
            results[step] = "FAILED"
            return False
        results[step] = f"ok, {time.monotonic() - started:.0f} s ({said})"
        print(f"{name}, {step}: {results[step]}", flush=True)
        return True

    if not done("install", lambda: _installed(environment, wheel)):
        return {}, results
    for step, work in STEPS.items():
        done(step, lambda work=work: work(environment))
    found = environment.versions()
    direct = [canonicalize_name(each.name) for each in declared_versions.requirements()]
    return {each: found[each] for each in direct}, results


def _installed(environment: Environment, wheel: Path) -> str:
    environment.install(wheel)
    return f"{len(environment.versions())} packages"


def _columns(parts: Sequence[dict[str, str]]) -> list[Row]:
    keys = list(dict.fromkeys(key for part in parts for key in part))
    return [(key, *(part.get(key, "-") for part in parts)) for key in keys]


def _print_table(head: Row, rows: Sequence[Row]) -> None:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    print()
    for row in (head, tuple("-" * width for width in widths), *rows):
        print(
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        )


if __name__ == "__main__":
    sys.exit(main())
