"""A real server with the extension, and the simulator as the provider behind it."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tornado.websocket import WebSocketClientConnection
from traitlets.config import Config

from jupyter_ai_shoulders.providers.http import retry_policy
from tests.server.client import API, Api, Fetch, PageClient
from tests.server.completion_models import Use
from tests.simulator import Simulator
from tests.simulator.script import NO_REPLY

MODEL = "claude-haiku-5-5"


@pytest.fixture
def jp_nbconvert_templates() -> None:
    """No templates: pytest-jupyter copies nbconvert's for each server, and nothing here exports."""


@pytest.fixture(autouse=True)
def no_debug_log() -> Iterator[None]:
    """Skip messages of level DEBUG, which pytest-jupyter asks for: 8 % of a test's time.

    A server's loggers go with it: jupyter_events makes one for each server, and pytest adds its
    handlers to all of them before each test.
    """
    logging.disable(logging.DEBUG)
    yield
    logging.disable(logging.NOTSET)
    loggers = logging.root.manager.loggerDict
    for name in [name for name in loggers if name.startswith("jupyter_events.logger.")]:
        del loggers[name]


@pytest.fixture
def upstream(jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Simulator]:
    """The provider, scripted by the test."""
    simulator = Simulator()
    jp_asyncio_loop.run_until_complete(simulator.start())
    yield simulator
    jp_asyncio_loop.run_until_complete(simulator.stop())
    assert not [r for r in simulator.requests if r.refusal == NO_REPLY], "a reply is missing"


@pytest.fixture
def jp_server_config(upstream: Simulator, monkeypatch: pytest.MonkeyPatch) -> Config:
    """Our extension enabled, Anthropic at the simulator, no access without a token."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", upstream.key)
    return Config(
        {
            "ServerApp": {
                "jpserver_extensions": {"jupyter_ai_shoulders": True},
                "allow_unauthenticated_access": False,
            },
            "Shoulders": {
                "titles": False,  # or titles would consume scripted replies
                "models": {
                    "default": MODEL,
                    "providers": {"anthropic": {"url": upstream.url}},
                },
            },
        }
    )


@pytest.fixture
def api(
    jp_fetch: Fetch, jp_http_port: int, jp_base_url: str, jp_auth_header: dict[str, str]
) -> Api:
    """The HTTP API with the token."""
    return Api(jp_fetch, f"http://127.0.0.1:{jp_http_port}{jp_base_url}", jp_auth_header)


@pytest.fixture
def state_dir(jp_root_dir: Path) -> Path:
    """The state directory of the server."""
    return jp_root_dir / ".shoulders"


@pytest.fixture
def quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry failed requests to a provider at once, not after 7 s in all."""
    monkeypatch.setattr(retry_policy, "FIRST_DELAY_MS", 1)
    monkeypatch.setattr(retry_policy, "LAST_DELAY_MS", 1)


OpenPage = Callable[[], Awaitable[PageClient]]


@pytest.fixture
def open_page(
    jp_ws_fetch: Callable[..., Awaitable[WebSocketClientConnection]],
    jp_asyncio_loop: asyncio.AbstractEventLoop,
) -> Iterator[OpenPage]:
    """Opens page sockets, which are closed at the end."""
    pages: list[PageClient] = []

    async def factory() -> PageClient:
        pages.append(PageClient(await jp_ws_fetch(*API, "socket")))
        return pages[-1]

    yield factory
    for page in pages:
        page.close()
    jp_asyncio_loop.run_until_complete(asyncio.sleep(0))


@pytest.fixture
def use(jp_home_dir: Path, upstream: Simulator, monkeypatch: pytest.MonkeyPatch) -> Use:
    """Configures the model for suggestions; call it before the first request."""
    monkeypatch.setenv("SIM_KEY", upstream.key)

    def write(provider: dict[str, Any], model: dict[str, Any]) -> None:
        folder = jp_home_dir / ".shoulders"
        folder.mkdir(exist_ok=True)
        entry = {"id": "small", "provider": "sim", "roles": ["ghost"], **model}
        configured = {"api_key_env": "SIM_KEY", **provider}
        content = {"providers": {"sim": configured}, "models": [entry]}
        (folder / "models.json").write_text(json.dumps(content))

    return write
