"""Fixtures of the browser tests: one Chromium, shared servers, a screenshot of each failure."""

import os
import re
import shutil
import sys
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    expect,
    sync_playwright,
)

from tests.simulator_process import SimulatorProcess, in_order
from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab, StartLab
from tests.ui.page_objects.lab_page import PAGE_TIMEOUT_MS
from tests.ui.support.kept_page import PASSED, KeptPage, is_kept, tidy
from tests.ui.support.notebook_scenario import LabWithModel, NotebookScenario

LONG_GRACE_SECONDS = 3_600.0
"""Long enough for a page to return in time on any machine."""
SHORT_GRACE_SECONDS = 1.0
TEST_SECONDS = 280
"""Time limit of a browser test; a machine four times as slow needs less than a third of it."""
LONGEST = (
    *(
        "open_notebooks",
        "review",
        "chat_panel",
        "questions",
        "open_text_files",
        "reconnection",
        "input",
    ),
    *("sleep_and_crash", "main_workflow", "secondary_surfaces", "collaboration", "thread_marks"),
    *("widget_panel", "anchors_persistence", "settings_page", "suggestions", "lab_completer"),
    *("typing_during_edits", "first_use", "long_running_cells", "change_list", "attachments"),
    *(
        "saved_output",
        "concurrent_edits",
        "thread_panel",
        "messages",
        "multi_file_turn",
        "proposals",
    ),
    *("inline_edits", "return_after_absence", "anchors_random_edits"),
)
"""The slowest files of either run, by `--durations=0`."""
FAILURES = Path(__file__).parent / "failures"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OFF_BY_PLAYWRIGHT = (
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades"),
    *("LensOverlay", "MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints"),
    *("PaintHolding", "PreconnectToSearch", "TcpPortRandomizationWin"),
    "ThirdPartyStoragePartitioning",
)
"""Features that Playwright disables itself: of several such arguments the last one counts."""
OFF = ("WebUIOmniboxPopup", "WebUIOmniboxAimPopup")
"""Two pages that Chromium loads for the address bar of each window.

They cost half a second of processor time per test.
"""
CHROMIUM_ARGS = (
    f"--disable-features={','.join((*OFF_BY_PLAYWRIGHT, *OFF))}",
    "--no-sandbox",  # the tests run as root in containers, and load only pages of this machine
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


# pytest-jupyter's two autouse fixtures close the running loop that Playwright needs: disabled here.
@pytest.fixture(autouse=True)
def jp_asyncio_loop() -> None:
    """Disable pytest-jupyter's event loop."""


@pytest.fixture(autouse=True)
def jp_server_cleanup() -> None:
    """Disable the clean-up of an in-process server."""


def chromium() -> str | None:
    """The browser found by `.ci/browser`, or one on PATH; None leaves the choice to Playwright."""
    noted = Path(sys.prefix, "browser")
    return (
        os.environ.get("CHROMIUM")
        or (noted.read_text().strip() if noted.exists() else None)
        or next((found for name in CHROMIUM_NAMES if (found := shutil.which(name))), None)
    )


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One headless Chromium for all browser tests."""
    with sync_playwright() as playwright:
        expect.set_options(timeout=PAGE_TIMEOUT_MS)
        launched = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        yield launched
        launched.close()


@pytest.fixture
def start_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartLab]:
    """A factory of servers; tests may `kill()` and `restart()` them."""
    started: list[Lab] = []

    def start(
        root: Path,
        *,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        base_url: str = "/",
    ) -> Lab:
        lab = ForkedLab(root, tmp_path_factory.mktemp("lab"), args, env or {}, base_url)
        started.append(lab)
        lab.start()
        return lab

    yield start
    for lab in started:
        lab.stop()


@contextmanager
def serve(paths: pytest.TempPathFactory, grace_seconds: float) -> Generator[LabWithModel]:
    """Run a server whose only model is a simulator scripted by each test."""
    root = paths.mktemp("workspace")
    upstream = SimulatorProcess(in_order(), paths.mktemp("upstream")).start()
    grace = f"--Shoulders.page_grace={grace_seconds}"
    lab = ForkedLab(root, paths.mktemp("lab"), args=[grace], env=upstream.configure(root))
    lab.start()
    yield LabWithModel(lab, upstream)
    lab.stop()
    upstream.stop()


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabWithModel]:
    """A server that never gives up on a page."""
    with serve(tmp_path_factory, LONG_GRACE_SECONDS) as served:
        yield served


@pytest.fixture(scope="package")
def served_hastily(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LabWithModel]:
    """A server that writes the agent's edits to the file soon after the page has gone."""
    with serve(tmp_path_factory, SHORT_GRACE_SECONDS) as served:
        yield served


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """An unconfigured server: its only model is the demo."""
    server = ForkedLab(tmp_path_factory.mktemp("workspace"), tmp_path_factory.mktemp("lab"))
    server.start()
    yield server
    server.stop()


@contextmanager
def working(
    served: LabWithModel, page: Page, request: pytest.FixtureRequest
) -> Generator[NotebookScenario]:
    """Yield a scenario; end its turns and kernels afterwards."""
    file = served.lab.root / f"{request.node.name.removeprefix('test_')}.ipynb"
    scenario = NotebookScenario(served, page, file, is_kept(request))
    yield scenario
    tidy(request, page)
    if not served.lab.is_running:
        served.lab.start()
    scenario.talks.end()


@pytest.fixture
def scenario(
    served: LabWithModel, page: Page, kept_page: KeptPage, request: pytest.FixtureRequest
) -> Iterator[NotebookScenario]:
    """A page and a notebook that waits for its page without limit."""
    server = served.lab.pid
    with working(served, page, request) as scenario:
        yield scenario
    if served.lab.pid != server:
        kept_page.drop()  # it would have to find the new server first


@pytest.fixture
def scenario_soon_left(
    served_hastily: LabWithModel, page: Page, request: pytest.FixtureRequest
) -> Iterator[NotebookScenario]:
    """A page and a notebook whose page is given up soon after it has gone."""
    with working(served_hastily, page, request) as scenario:
        yield scenario


@pytest.fixture
def demo_scenario(
    lab: Lab, page: Page, request: pytest.FixtureRequest
) -> Iterator[NotebookScenario]:
    """A page and a notebook without a configured model."""
    with working(LabWithModel(lab), page, request) as scenario:
        yield scenario


def new_context(browser: Browser) -> BrowserContext:
    """A new browser profile with a window of the size the tests expect."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PAGE_TIMEOUT_MS)
    return context


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A new browser profile: cookies, storage and cache."""
    fresh = new_context(browser)
    yield fresh
    for page in fresh.pages:  # An error in a route of this test would fail the next one.
        page.unroute_all(behavior="ignoreErrors")
    fresh.close()


CLOSES_THE_LABS_DIALOG = """
    new MutationObserver(() => {
        for (const dialog of document.querySelectorAll('.jp-Dialog')) {
            if (dialog.textContent.includes('Server Connection Error')) {
                dialog.querySelector('input[type=checkbox]')?.click();
                dialog.querySelector('.jp-Dialog-footer button')?.click();
                window.connectionDialogAnswered = true;
            }
        }
    }).observe(document, {childList: true, subtree: true});
"""
"""Immediately: the dialog of JupyterLab takes every key while it is open.

``Panel.server_gone`` waits for it.
"""


def attended(page: Page) -> Page:
    """Close JupyterLab's dialog about an unreachable server whenever it opens, as a user would.

    The page closes the dialogs it knows; the handler is for others.
    """
    page.add_init_script(CLOSES_THE_LABS_DIALOG)

    def close(dialog: Locator) -> None:
        dialog.get_by_role("checkbox").check()
        dialog.get_by_role("button", name="Close").click()

    page.add_locator_handler(page.locator(".jp-Dialog", has_text="Server Connection Error"), close)
    return page


@pytest.fixture(scope="package")
def kept_page(browser: Browser) -> Iterator[KeptPage]:
    """The page that tests with the mark `kept_page` use one after another."""
    kept = KeptPage(lambda: attended(new_context(browser).new_page()))
    yield kept
    kept.drop()


@pytest.fixture
def page(kept_page: KeptPage, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A blank page, or the kept one. Screenshots and logs of failures: `tests/ui/failures`."""
    if is_kept(request):
        opened = kept_page.lend()
    else:
        opened = attended(request.getfixturevalue("context").new_page())
    console: list[str] = []

    def note_message(message: ConsoleMessage) -> None:
        console.append(f"{message.type}: {message.text}")

    def note_error(error: Error) -> None:
        console.append(f"uncaught: {error}")

    opened.on("console", note_message)
    opened.on("pageerror", note_error)
    yield opened
    opened.remove_listener("console", note_message)
    opened.remove_listener("pageerror", note_error)
    if request.node.stash.get(FAILED, False):
        FAILURES.mkdir(exist_ok=True)
        name = re.sub(r"[^\w.-]+", "-", request.node.nodeid.removeprefix("tests/ui/"))
        if not opened.is_closed():  # a test may close it
            opened.screenshot(path=FAILURES / f"{name}.png")
        (FAILURES / f"{name}.log").write_text("\n".join(console), encoding="utf-8")
    if is_kept(request) and not request.node.stash.get(PASSED, False):
        kept_page.drop()


@pytest.fixture
def other_page(browser: Browser) -> Iterator[Page]:
    """A page of another browser."""
    context = new_context(browser)
    yield attended(context.new_page())
    context.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give browser tests more time than others, and start with the slowest files.

    A worker takes a whole file: a slow one that starts last would run alone.
    """
    sizes = Counter(item.path for item in items)
    items.sort(key=lambda item: _turn(item.path, sizes[item.path]))
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.timeout(TEST_SECONDS))


def _turn(file: Path, tests: int) -> tuple[int, int, str]:
    topic = file.stem.removeprefix("test_")
    rank = LONGEST.index(topic) if topic in LONGEST else len(LONGEST)
    return (rank, -tests, topic)


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Record on the test whether its call failed, for `page` to see when it closes."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
        item.stash[PASSED] = report.passed
    return report
