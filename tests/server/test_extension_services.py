"""State shared between the requests of a server process, and its release."""

from typing import Any

import pytest
from jupyter_server.serverapp import ServerApp

from jupyter_ai_shoulders.server import extension_services as service_module
from tests.server.client import Api


def extension(server: ServerApp) -> Any:
    (app,) = server.extension_manager.extension_apps["jupyter_ai_shoulders"]
    return app


async def test_a_request_while_the_server_stops_is_refused_and_starts_nothing(
    api: Api, jp_serverapp: ServerApp
) -> None:
    session_id = await api.new_session()

    await extension(jp_serverapp).stop_extension()
    answer = await api.send(session_id, "Hello")

    assert (answer.status, answer.code) == (503, "state_unavailable")
    assert "shutting down" in answer.error["message"]
    assert answer.error["hint"]


async def test_what_cannot_be_imported_ahead_does_not_keep_the_server_from_stopping_in_order(
    api: Api,
    jp_serverapp: ServerApp,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> None:
        raise ImportError("no httpx here")

    monkeypatch.setattr(service_module, "import_for_turns", broken)
    await api.new_session()

    await extension(jp_serverapp).stop_extension()

    assert "no httpx here" in caplog.text
    assert "did not stop in order" not in caplog.text
