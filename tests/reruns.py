"""Tells of the tests that failed and passed when run again, and fails a run that has many of them.

`make test` runs a failed test again, twice at most (`--reruns 2`): a browser, a kernel and two
cores that others use as well do not always answer in time. Each such test is named with its
reason, and more than `MOST` of them fail the run: then it is not the machine. Used by
``tests/conftest.py``.
"""

from __future__ import annotations

import pytest

MOST = 6
"""Of some 10 000 tests."""


class Reruns:
    """The plugin; what it counts is in the process that reports."""

    def __init__(self) -> None:
        """Nothing was run again so far."""
        self._again: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a report of a test that is about to be run again."""
        if str(report.outcome) == "rerun":  # an outcome of pytest-rerunfailures alone
            lines = report.longreprtext.splitlines()
            said = next((line for line in lines if line.startswith("E ")), "")
            self._again.append(f"{report.nodeid} ({report.when}) {said.strip()}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail the run when too many tests had to be run again."""
        if len(self._again) > MOST:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Name them."""
        if not self._again:
            return
        terminalreporter.section("failed once, run again")
        for line in self._again:
            terminalreporter.write_line(line)
        if len(self._again) > MOST:
            terminalreporter.write_line(
                f"{len(self._again)} tests had to be run again, more than {MOST}: the run failed.",
                red=True,
            )
