"""A server with a password and no token: programs in its kernels still get access."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, cast

import aiohttp
import pytest
from jupyter_server.auth import security

from jupyter_ai_shoulders.client import Client
from jupyter_ai_shoulders.client.errors import NotAllowed
from tests.client.kernels import ServerKernel
from tests.simulator_process import StartSimulator, in_order, says
from tests.support.forked_lab import ForkedLab
from tests.support.lab_server import Lab

PASSWORD = "correct horse"
NAME = "SHOULDERS_PROXY_SECRET"


class Person(ServerKernel):
    """A user who logged in with the password, and the kernel they started."""

    async def __aenter__(self) -> Self:
        self._http = http = aiohttp.ClientSession(
            cookie_jar=aiohttp.CookieJar(unsafe=True)  # for a host that is an IP address
        )
        async with http.get(self._url("login")) as page:
            xsrf = page.cookies["_xsrf"].value
        form = {"password": PASSWORD, "_xsrf": xsrf}
        async with http.post(self._url("login"), data=form, allow_redirects=False) as answer:
            assert answer.status == 302, await answer.text()
        http.headers["X-XSRFToken"] = xsrf
        return await self._begin()


@pytest.fixture
def lab(workspace: Path, upstream: StartSimulator, tmp_path: Path) -> Iterator[Lab]:
    """A server with a password only."""
    provider = upstream(in_order(says("Hello from the model."), says("And again.")))
    env = provider.configure(workspace)
    hashed = cast("Any", security).passwd(PASSWORD)
    args = [f"--PasswordIdentityProvider.hashed_password={hashed}"]
    made = ForkedLab(workspace, tmp_path / "lab", args=args, env=env, token="")
    made.start()
    yield made
    made.stop()


ASK = """
from jupyter_ai_shoulders import Client
client = Client()
print(client.notebook(), client.ask("Hi"))
"""
SOCKET = """
from jupyter_ai_shoulders.client.page_socket import open_socket
opened = open_socket(client.connection)
opened.send('{"type": "hello", "client_id": "c", "wire_version": 1, "cursors": {}}')
print(opened.recv())
opened.close()
"""
MAGIC = """
%load_ext jupyter_ai_shoulders
%ai Hello
"""


async def test_a_kernel_asks_without_a_token_until_it_ends(lab: Lab) -> None:
    async with Person(lab, "plain.ipynb") as kernel:
        asked = await kernel.run(ASK)
        socket = await kernel.run(SOCKET)
        magic = await kernel.run(MAGIC)
        secret = (await kernel.run(f"import os; print(os.environ['{NAME}'])")).text.strip()
    url = f"http://127.0.0.1:{lab.port}/"

    assert (asked.error, asked.text.strip()) == ("", "plain.ipynb Hello from the model.")
    assert '"welcome"' in socket.text, socket.error
    assert magic.error == ""
    assert "And again." in str(magic.shown)
    with Client(url, secret, environ={}) as stranger, pytest.raises(NotAllowed):
        stranger.status()
    kept = [file for folder in (lab.root, lab.state) for file in folder.rglob("*")]
    holding = [file for file in kept if file.is_file() and secret.encode() in file.read_bytes()]
    assert holding == []


async def test_elsewhere_a_password_only_server_says_what_it_wants(lab: Lab) -> None:
    with (
        Client(f"http://127.0.0.1:{lab.port}/", environ={}) as client,
        pytest.raises(NotAllowed, match="with a password only has no token"),
    ):
        client.status()
