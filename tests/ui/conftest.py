"""Fixtures of the browser tests: one Chromium, servers as asked for, a picture of each failure."""

import os
import re
import shutil
import sys
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.lab import Lab, StartLab

FAILURES = Path(__file__).parent / "failures"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ARGS = (
    "--no-sandbox",  # the tests run as root in containers, and load pages of this machine only
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)


# pytest-jupyter's two autouse fixtures close the running loop that Playwright keeps: off, here.
@pytest.fixture(autouse=True)
def jp_asyncio_loop() -> None:
    """No event loop of pytest-jupyter's."""


@pytest.fixture(autouse=True)
def jp_server_cleanup() -> None:
    """No in-process server to clean up."""


def chromium() -> str | None:
    """The browser `.ci/browser` found, or one on PATH; None leaves the choice to Playwright."""
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
        launched = playwright.chromium.launch(executable_path=chromium(), args=CHROMIUM_ARGS)
        yield launched
        launched.close()


@pytest.fixture
def start_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartLab]:
    """A factory of servers; tests may `kill()` and `restart()` them at will."""
    started: list[Lab] = []

    def start(
        root: Path,
        *,
        args: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        base_url: str = "/",
    ) -> Lab:
        lab = Lab(root, tmp_path_factory.mktemp("lab"), args, env or {}, base_url)
        started.append(lab)
        lab.start()
        return lab

    yield start
    for lab in started:
        lab.stop()


@pytest.fixture(scope="package")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server that tests share; each makes a folder of its own in it."""
    server = Lab(tmp_path_factory.mktemp("workspace"), tmp_path_factory.mktemp("lab"))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    """A browser profile of its own: cookies, storage."""
    fresh = browser.new_context(viewport={"width": 1280, "height": 800})
    yield fresh
    fresh.close()


@pytest.fixture
def page(context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A blank page. After a failure its picture and its console lie in `tests/ui/failures`."""
    opened = context.new_page()
    console: list[str] = []
    opened.on("console", lambda message: console.append(f"{message.type}: {message.text}"))
    opened.on("pageerror", lambda error: console.append(f"uncaught: {error}"))
    yield opened
    if request.node.stash.get(FAILED, False):
        FAILURES.mkdir(exist_ok=True)
        name = re.sub(r"[^\w.-]+", "-", request.node.nodeid.removeprefix("tests/ui/"))
        opened.screenshot(path=FAILURES / f"{name}.png")
        (FAILURES / f"{name}.log").write_text("\n".join(console), encoding="utf-8")


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note on the test whether its call failed, for `page` to see when it closes."""
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report
