"""Tells of the tests that failed and passed when run again, and fails a run that has many of them.

`make test` runs a failed test again, twice at most (`--reruns 2`): a browser, a kernel and two
cores that others use as well do not always answer in time. Each such test is named with its
reason, and more than `MOST` of them fail the run: then it is not the machine. Used by
``tests/conftest.py``.
"""

from __future__ import annotations

import re
import socket
from typing import Any, cast

import pytest
from pytest_timeout import Settings

_PLACE = re.compile(r"(?!\.venv|/)\S+\.py:\d+: ")
"""A line of a traceback that says where it was in the project."""
MOST = 3
"""Tests of a run."""


def restart_timeout(item: pytest.Item) -> None:
    """Restart the time limit of a test.

    pytest-timeout and pytest's faulthandler begin once for all runs of a test, and stop at its
    first failure, as if somebody were to look at it: a test that hangs when it is run again would
    hang for ever.
    """
    marker = item.get_closest_marker("timeout")
    seconds = marker.args[0] if marker is not None else item.config.getini("timeout")
    if not seconds:
        return
    settings = Settings(float(seconds), "signal", func_only=False, disable_debugger_detection=False)
    item.config.hook.pytest_timeout_set_timer(item=item, settings=settings)


def renew_shared_fixtures(item: pytest.Item) -> None:
    """End the fixtures that a test which failed shares with others: it gets new ones.

    A kernel that hangs, a server that the failed run left with open questions, or a result that
    was computed once for all tests of a module would make it fail again.
    """
    if getattr(item, "execution_count", 1) < 2:  # counted by pytest-rerunfailures
        return
    function = cast("Any", item)  # pytest has no public way to end a fixture
    for definitions in function._fixtureinfo.name2fixturedefs.values():
        for definition in definitions:
            if definition.scope != "function" and definition.cached_result is not None:
                definition.finish(function._request)


def report_without_delay(config: pytest.Config) -> None:
    """Let a worker's plugin pytest-rerunfailures send small messages at once.

    It writes twice for each test before it reads; without this the second message waits 40 ms for
    the first one's acknowledgement (Nagle's algorithm, RFC 896, with a delayed ACK).
    """
    connection = getattr(getattr(config, "failures_db", None), "sock", None)
    if connection is not None and hasattr(config, "workerinput"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


class FlakyTestReport:
    """The plugin; what it counts is in the process that reports."""

    def __init__(self) -> None:
        """Nothing was run again so far."""
        self._again: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """Remove a delay of 40 ms per test, once all plugins are configured."""
        report_without_delay(session.config)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a report of a test that is about to be run again."""
        if str(report.outcome) == "rerun":  # an outcome of pytest-rerunfailures alone
            lines = report.longreprtext.splitlines()
            said = next((line for line in lines if line.startswith("E ")), "")
            places = [line.rpartition(": ")[0] or line for line in lines if _PLACE.match(line)]
            told = " > ".join(places)
            self._again.append(f"{report.nodeid} ({report.when}) {told} {said.strip()}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Restart the time limit for each run of a test, and renew its shared fixtures."""
        restart_timeout(item)
        renew_shared_fixtures(item)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Bound what comes after a failure as well."""
        restart_timeout(item)

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
