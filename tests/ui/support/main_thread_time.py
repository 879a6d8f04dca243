"""CPU time of the tasks on the main threads of a browser's pages.

Independent of other programs on the machine. Used by the benchmarks and by ``thread_storm``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from playwright.sync_api import Browser

Answer = TypeVar("Answer")


def task_times(browser: Browser, act: Callable[[], Answer]) -> tuple[Answer, list[float]]:
    """Return the answer and the time of each main-thread task during the call, in ms."""
    browser.start_tracing(categories=["toplevel"])
    answer = act()
    events: list[dict[str, Any]] = json.loads(browser.stop_tracing())["traceEvents"]
    threads = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    return answer, [
        event.get("tdur", 0) / 1000
        for event in events
        if event["ph"] == "X" and (event["pid"], event["tid"]) in threads
    ]
