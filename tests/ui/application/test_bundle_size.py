"""The size of the extension's code at start-up: views are loaded when they are shown."""

from __future__ import annotations

from playwright.sync_api import Page

from tests.bench.groups.bundle_size import AT_START_KB, IN_ALL_KB, built, kilobytes_at_start
from tests.ui.support.notebook_scenario import LabWithModel


def test_the_lab_starts_with_little_of_our_javascript(served: LabWithModel, page: Page) -> None:
    assert kilobytes_at_start(page, served.lab) <= AT_START_KB
    assert sum(built().values()) <= IN_ALL_KB
