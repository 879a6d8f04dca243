"""Command line of the evaluation: ``jupyter shoulders eval``, also ``python -m …evaluation``.

Without ``--model``, runs the cases with scripts, which need no key; with it, runs the cases that
suit a real model, whose calls cost money. Exits with 1 if a case fails.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Sequence

from jupyter_ai_shoulders.evaluation.case import Case
from jupyter_ai_shoulders.evaluation.cases.catalogue import CASES
from jupyter_ai_shoulders.evaluation.recorded_models import SCRIPTED
from jupyter_ai_shoulders.evaluation.runner import JOBS, evaluate
from jupyter_ai_shoulders.wire.hidden_characters import legible
from jupyter_ai_shoulders.wire.ids import ModelId

NUDGES: dict[str, tuple[bool, ...]] = {"both": (True, False), "on": (True,), "off": (False,)}


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        prog="jupyter shoulders eval",
        description="Run the evaluation cases, with scripted models or a real one.",
    )
    parser.add_argument("--model", metavar="ID", help="a configured model; its calls are paid for")
    parser.add_argument("--case", metavar="NAME", action="append", help="only this; repeatable")
    parser.add_argument("--nudges", choices=NUDGES, help="default: both, with a model: on")
    parser.add_argument("--jobs", type=int, default=JOBS, help="cases at a time (%(default)s)")
    parser.add_argument("--json", action="store_true", help="report as JSON")
    parser.add_argument("--list", action="store_true", help="only list the cases")
    return parser.parse_args(given)


def chosen(names: Sequence[str] | None, *, real: bool) -> list[Case]:
    """Return the requested cases. Raises ``SystemExit`` for an unknown name."""
    known = [case for case in CASES if case.real or not real]
    unknown = sorted(set(names or ()) - {case.name for case in known})
    if unknown:
        raise SystemExit(f"No such case here: {', '.join(unknown)}. See --list.")
    return [case for case in known if not names or case.name in names]


def main(given: Sequence[str] | None = None) -> int:
    """Run the cases, print the report, and return the exit code."""
    options = arguments(given)
    real = options.model is not None
    cases = chosen(options.case, real=real)
    if options.list:
        sys.stdout.writelines(f"{case.name}: {case.about}\n" for case in cases)
        return 0
    logging.getLogger("jupyter_ai_shoulders").addHandler(logging.NullHandler())
    model = ModelId(options.model) if real else SCRIPTED
    nudges = NUDGES[options.nudges or ("on" if real else "both")]
    report = asyncio.run(evaluate(cases, model=model, nudges=nudges, jobs=max(options.jobs, 1)))
    sys.stdout.write((report.json() if options.json else legible(report.text())) + "\n")
    return 0 if report.passed else 1


if __name__ == "__main__":
    sys.exit(main())
