"""Results of an evaluation as values, table and JSON. Created by ``runner``."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, slots=True)
class CaseReport:
    """The result of one run of a case."""

    name: str
    nudges: bool
    problems: tuple[str, ...]
    """Reasons for the failure; empty if it passed."""
    exit: str
    steps: int
    tokens: int
    seconds: float

    @property
    def passed(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


@dataclass(frozen=True, slots=True)
class Report:
    """The results of all runs."""

    model: str
    cases: tuple[CaseReport, ...]

    @property
    def passed(self) -> bool:
        """Whether all cases passed."""
        return all(case.passed for case in self.cases)

    def text(self) -> str:
        """Return one line per case with the reasons for failures below, and the totals."""
        width = max((len(_title(case)) for case in self.cases), default=4)
        lines = [f"Model: {self.model}"]
        for case in self.cases:
            mark = "pass" if case.passed else "FAIL"
            numbers = f"{case.steps:3} steps {case.tokens:8} tokens {case.seconds:6.2f} s"
            lines.append(f"{mark}  {_title(case):{width}}  {numbers}  {case.exit}")
            lines += [f"        {problem}" for problem in case.problems]
        failed = sum(not case.passed for case in self.cases)
        names = len({case.name for case in self.cases})
        seconds = sum(case.seconds for case in self.cases)
        lines.append(
            f"{len(self.cases) - failed} of {len(self.cases)} runs of {names} cases passed "
            f"in {seconds:.1f} s"
        )
        return "\n".join(lines)

    def json(self) -> str:
        """Return the report as JSON."""
        cases = [{**asdict(case), "passed": case.passed} for case in self.cases]
        return json.dumps({"model": self.model, "passed": self.passed, "cases": cases}, indent=2)


def _title(case: CaseReport) -> str:
    return case.name if case.nudges else f"{case.name} (no nudges)"
