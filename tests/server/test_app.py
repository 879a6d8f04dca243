"""The extension as Jupyter loads it: cheap, and without harm to the server."""

import asyncio
import gc
import subprocess
import sys
import threading

import pytest
from jupyter_server.serverapp import ServerApp
from traitlets.config import Config

from jupyter_ai_shoulders.server import app as app_module
from jupyter_ai_shoulders.server import lazy_routes
from jupyter_ai_shoulders.server.app import ShouldersApp
from tests.server.client import API, Api, Fetch


def extension(app: ServerApp) -> ShouldersApp:
    (found,) = app.extension_manager.extension_apps["jupyter_ai_shoulders"]
    assert isinstance(found, ShouldersApp)
    return found


def test_loading_the_extension_imports_nothing_heavy() -> None:
    program = (
        "import sys, jupyter_ai_shoulders.server.app\n"
        "print(*[name for name in sys.modules if name.startswith('jupyter_ai_shoulders')])\n"
        "print(*{'pydantic', 'httpx', 'nbclient', 'aiohttp'} & sys.modules.keys())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    ours, heavy = run.stdout.split("\n")[:2]

    assert heavy == ""
    assert set(ours.split()) == {
        "jupyter_ai_shoulders",
        "jupyter_ai_shoulders.host",
        "jupyter_ai_shoulders.host.config",
        "jupyter_ai_shoulders.server",
        "jupyter_ai_shoulders.server.app",
        "jupyter_ai_shoulders.server.kernels",
        "jupyter_ai_shoulders.server.kernels.environment",
        "jupyter_ai_shoulders.server.lazy_routes",
    }


def test_search_is_imported_with_the_first_search_only() -> None:
    program = (
        "import sys, jupyter_ai_shoulders.server.routes, jupyter_ai_shoulders.host.preload as p\n"
        "p.import_for_turns()\n"
        "print(*[name for name in sys.modules if '.retrieval' in name])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "\n"


LATE_MODULES = {
    *("mcp", "mcp_types", "starlette", "acp"),
    *("cronsim", "watchfiles", "opentelemetry"),
    "jupyter_ai_shoulders.host.automation.run_driver",
    "jupyter_ai_shoulders.host.automation.watchers.service",
    "jupyter_ai_shoulders.host.delegation.service",
}


def test_what_few_use_is_imported_with_the_first_use_only() -> None:
    program = (
        "import sys, jupyter_ai_shoulders.server.mcp.routes\n"
        "import jupyter_ai_shoulders.server.routes, jupyter_ai_shoulders.host.preload as p\n"
        "import jupyter_ai_shoulders.server.extension_services\n"
        "p.import_for_turns()\n"
        f"print(*{LATE_MODULES!r} & sys.modules.keys())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout == "\n"


async def test_no_garbage_is_collected_while_the_modules_are_imported(
    jp_serverapp: ServerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    during: list[bool] = []
    monkeypatch.setattr(app_module, "QUIET_SECONDS", 0)

    def imported(_: str) -> None:
        during.append(gc.isenabled())

    monkeypatch.setattr(app_module, "import_module", imported)

    await extension(jp_serverapp).warm()

    assert (during, gc.isenabled()) == ([False, False], True)


async def test_the_start_recovers_before_the_first_request(
    jp_serverapp: ServerApp, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "QUIET_SECONDS", 0)
    app = extension(jp_serverapp)

    await app.warm()

    assert (await api.get("status")).status == 200


async def test_a_failing_start_is_logged_and_the_server_goes_on(
    jp_serverapp: ServerApp,
    jp_fetch: Fetch,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken(self: ShouldersApp) -> None:
        raise RuntimeError("broken on purpose")

    monkeypatch.setattr(app_module, "QUIET_SECONDS", 0)
    monkeypatch.setattr(ShouldersApp, "service", broken)
    app = extension(jp_serverapp)

    await app.warm()

    assert "broken on purpose" in caplog.text
    assert (await jp_fetch("api", "status")).code == 200


async def test_routes_that_cannot_be_loaded_answer_500_until_they_can(
    jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(self: ShouldersApp) -> None:
        raise ImportError("broken on purpose")

    with monkeypatch.context() as patched:
        patched.setattr(ShouldersApp, "service", broken)
        refused = await jp_fetch(*API, "status", raise_error=False)
    answered = await jp_fetch(*API, "status", raise_error=False)

    assert (refused.code, answered.code) == (500, 200)
    assert "broken on purpose" in caplog.text
    assert b"broken on purpose" not in refused.body


async def test_requests_that_wait_for_the_routes_leave_the_event_loop_free(
    jp_fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    imported = threading.Event()

    def slow(_: str) -> None:
        imported.wait(30)

    with monkeypatch.context() as patched:
        patched.setattr(lazy_routes, "import_module", slow)
        waiting = [
            asyncio.ensure_future(jp_fetch(*API, "status")),
            asyncio.ensure_future(jp_fetch(*API, "sessions", method="POST", body="{}")),
        ]
        assert (await jp_fetch("api", "status")).code == 200
        assert not any(request.done() for request in waiting)
        imported.set()
        answers = await asyncio.gather(*waiting)

    assert [answer.code for answer in answers] == [200, 201]


class TestWrongSetting:
    @pytest.fixture
    def no_debug_log(self) -> None:
        """Keep the log as it is: with its level DEBUG, Jupyter reports the extension there."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.default_mode = "yolo"
        return jp_server_config

    async def test_it_is_said_at_the_start_and_the_server_goes_on(
        self, jp_fetch: Fetch, caplog: pytest.LogCaptureFixture
    ) -> None:
        assert (await jp_fetch("api", "status")).code == 200
        assert "default_mode" in "".join(
            record.getMessage() for record in caplog.get_records("setup")
        )
