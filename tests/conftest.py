"""Fixtures of all tests: an isolated home directory, no keys, and a strict server."""

import gc
import os
import signal
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, settings
from traitlets.config import Config

from tests.sdk_validation.request_validator import RequestValidator
from tests.simulator.http import HttpRequest
from tests.simulator.request_log import Recorded, Records
from tests.simulator_process import SimulatorProcess, StartSimulator, in_order
from tests.support.case_selection import is_full_run, sample_matrix, select_full_run
from tests.support.flaky_tests import FlakyTestReport
from tests.support.secret_scanner import find_leaks

JUDGE = pytest.StashKey[RequestValidator]()
LEAKS = pytest.StashKey[list[str]]()
NOBODY = "127.0.0.1:9"
"""An address without a listener."""
QUICK_START = Path(__file__).parent / "import_stubs"
"""Stubs of imports that processes started by tests do not need."""

# No test depends on the machine's speed; Hypothesis' default limit is 0.2 s per example.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of `make test-full`."""
    parser.addoption("--full", action="store_true", help="also run the tests marked `full`")


def deselected(items: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Yield the tests that a default run leaves out."""
    matrices: defaultdict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("full"):
            yield item
        elif item.get_closest_marker("sampled") and isinstance(item, pytest.Function):
            matrices[item.nodeid.partition("[")[0]].append(item)
    for cases in matrices.values():
        mark = cases[0].get_closest_marker("sampled")
        assert mark is not None
        values = [
            {name: id(value) for name, value in case.callspec.params.items()} for case in cases
        ]
        kept = sample_matrix(values, mark.args[0])
        yield from (case for number, case in enumerate(cases) if number not in kept)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the tests marked `full`, and cases of those marked `sampled`, in a default run."""
    if is_full_run():
        return
    left_out = set(deselected(items))
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


@pytest.fixture(autouse=True)
def isolated_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Provide an empty home, no provider keys and no Ollama, independent of the developer's
    machine.
    """
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.fail.Keyring")
    monkeypatch.setenv("OLLAMA_HOST", NOBODY)
    for name in os.environ:
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)
    return home


def begin_processes_quickly() -> None:
    """Put `QUICK_START` on the path of child processes, including workers."""
    path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if str(QUICK_START) not in path:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(QUICK_START), *path]))


def trust_no_certificate() -> None:
    """Let clients of this process and its children find no certificates: they dial `http` only.

    Reading the bundle takes 20 ms of processor time for each client, the vendors' SDKs' included.
    """
    os.environ.pop("SSL_CERT_FILE", None)  # httpx prefers it
    os.environ["SSL_CERT_DIR"] = str(QUICK_START)


def begin_processes_that_hear_interrupts() -> None:
    """Let Ctrl+C reach child processes even if this process was started in the background of a
    script.

    Such a process ignores the signal, and its children would inherit that.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Begin to count the requests that are judged, and the tests that are run again.

    `--full` or the name of a file selects everything.
    """
    named = any(argument.partition("::")[0].endswith(".py") for argument in config.args)
    if named or config.getoption("--full"):
        select_full_run()
    gc.disable()  # until the collection is over, see pytest_collection_finish
    begin_processes_quickly()
    begin_processes_that_hear_interrupts()
    trust_no_certificate()
    config.stash[JUDGE] = RequestValidator()
    config.pluginmanager.register(FlakyTestReport())


def pytest_collection_finish() -> None:
    """Keep what the collection made out of the garbage collector, which looks at it in vain.

    It halves the processor time of a collection and takes a fifth of that of the tests.
    """
    gc.freeze()
    gc.enable()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail the run when a key is in any file it wrote except a key file."""
    if hasattr(session.config, "workerinput"):  # only the process that started the workers checks
        tell = cast("Any", session.config).workeroutput
        judge = session.config.stash[JUDGE]
        tell["judged"] = [dict(judge.judged), judge.excused, judge.excused_tests]
        return
    config = cast("Any", session.config)  # fixtures have a public way, hooks do not
    made: pytest.TempPathFactory = config._tmp_path_factory
    found = find_leaks(made.getbasetemp())
    session.config.stash[LEAKS] = found
    if found:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Add the count of a worker of pytest-xdist."""
    judged, excused, tests = getattr(node, "workeroutput", {}).get("judged", [{}, 0, 0])
    judge: RequestValidator = node.config.stash[JUDGE]
    judge.judged.update(judged)
    judge.excused += excused
    judge.excused_tests += tests


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Report how many requests were validated."""
    for leak in config.stash.get(LEAKS, list[str]()):
        terminalreporter.write_line(f"A KEY IS IN A FILE: {leak}", red=True)
    judge = config.stash[JUDGE]
    formats = ", ".join(f"{name} {count}" for name, count in sorted(judge.judged.items()))
    if judge.judged or judge.excused:
        terminalreporter.write_line(
            f"Requests judged by the vendors' types: {judge.judged.total()} ({formats}); "
            f"excused: {judge.excused} of {judge.excused_tests} tests that send malformed ones."
        )


@pytest.fixture(scope="session")
def judge(pytestconfig: pytest.Config) -> Iterator[RequestValidator]:
    """Return the validator of every simulator request in this process."""
    judge = pytestconfig.stash[JUDGE]
    add = Records.add

    def noted(records: Records, request: HttpRequest) -> Recorded:
        record = add(records, request)
        judge.validate_request(record.path, record.body)
        return record

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Records, "add", noted)
        yield judge


@pytest.fixture(autouse=True)
def requests_fit_the_vendors(
    request: pytest.FixtureRequest, judge: RequestValidator
) -> Iterator[None]:
    """Fail the test when a request it caused differs from the vendor's SDK."""
    yield
    malformed = request.node.get_closest_marker("malformed_requests") is not None
    problems = judge.finish(malformed=malformed)
    assert not problems, "\n".join(problems)


@pytest.fixture
def jp_server_config() -> Config:
    """Configure pytest-jupyter's server: our extension enabled, everything requires a token."""
    return Config(
        {
            "ServerApp": {
                "jpserver_extensions": {"jupyter_ai_shoulders": True},
                "allow_unauthenticated_access": False,
            }
        }
    )


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty folder to serve."""
    root = tmp_path / "workspace"
    root.mkdir()
    return root


@pytest.fixture(scope="session")
def idle_simulators() -> Iterator[list[SimulatorProcess]]:
    """Keep simulators for the next tests: a start takes half a second of processor time."""
    idle: list[SimulatorProcess] = []
    yield idle
    for each in idle:
        each.stop()


@pytest.fixture
def upstream(
    tmp_path_factory: pytest.TempPathFactory,
    judge: RequestValidator,
    idle_simulators: list[SimulatorProcess],
) -> Iterator[StartSimulator]:
    """Return a factory of simulators that play a script."""
    lent: list[SimulatorProcess] = []

    def start(script: Mapping[str, Any]) -> SimulatorProcess:
        if idle_simulators:
            lent.append(idle_simulators.pop())
            lent[-1].play(script)
        else:
            folder = tmp_path_factory.mktemp("upstream")
            lent.append(SimulatorProcess(script, folder, judge.validate_requests).start())
        return lent[-1]

    yield start
    for each in lent:
        each.play(in_order())
    idle_simulators.extend(lent)
