"""Keys other than the server's token: a kernel's secret, and a hub's token."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator
from typing import Any, ClassVar

import httpx
import openai
import pytest
from anthropic import AsyncAnthropic
from jupyter_server.auth import Authorizer, IdentityProvider, User, security
from openai import AsyncOpenAI
from traitlets.config import Config

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.server.auth.kernel_secrets import PREFIX, KernelSecrets
from tests.server.client import Fetch
from tests.server.proxy.conftest import LOCAL
from tests.simulator import Simulator

ADA, BOB = User("ada"), User("bob")
ASK: dict[str, Any] = {"model": LOCAL, "messages": [{"role": "user", "content": "Hi"}]}
PASSWORD = "correct horse"


@pytest.fixture
def kernels() -> set[str]:
    return {"k1", "k2"}


@pytest.fixture
def secrets(kernels: set[str]) -> KernelSecrets:
    return KernelSecrets(lambda kernel_id: kernel_id in kernels)


def test_a_kernel_has_one_secret_for_each_user(secrets: KernelSecrets) -> None:
    issued = {
        (kernel, user.username): secrets.issue(kernel, user)
        for kernel in ("k1", "k2")
        for user in (ADA, BOB)
    }

    assert len(set(issued.values())) == 4
    assert secrets.issue("k1", ADA) == issued["k1", "ada"]
    users = {key: secrets.user_of(secret) for key, secret in issued.items()}
    assert {key: user and user.username for key, user in users.items()} == {
        key: key[1] for key in issued
    }


def test_there_is_no_secret_without_a_kernel(secrets: KernelSecrets) -> None:
    with pytest.raises(NotFound, match="no kernel k3"):
        secrets.issue("k3", ADA)


def test_a_secret_goes_with_its_kernel(secrets: KernelSecrets, kernels: set[str]) -> None:
    secret = secrets.issue("k1", ADA)
    kernels.remove("k1")
    assert secrets.user_of(secret) is None

    secrets.issue("k2", ADA)
    kernels.add("k1")
    assert secrets.user_of(secret) is None


@pytest.mark.parametrize(
    "given",
    ["", PREFIX, f"{PREFIX}k1", f"{PREFIX}k1.", f"{PREFIX}k1.x", f"{PREFIX}k2.{{}}", "ü", "{}x"],
)
def test_what_is_no_secret_opens_nothing(secrets: KernelSecrets, given: str) -> None:
    random = secrets.issue("k1", ADA).rpartition(".")[2]
    secrets.issue("k2", ADA)
    assert secrets.user_of(given.replace("{}", random)) is None


async def start_kernel(fetch: Fetch) -> str:
    response = await fetch("api", "kernels", method="POST", body="{}")
    return json.loads(response.body)["id"]


@pytest.fixture
def http(jp_asyncio_loop: asyncio.AbstractEventLoop, proxy_url: str) -> Iterator[httpx.AsyncClient]:
    client = httpx.AsyncClient(base_url=proxy_url.removesuffix("shoulders/proxy"), timeout=60)
    yield client
    jp_asyncio_loop.run_until_complete(client.aclose())


async def secret_of(http: httpx.AsyncClient, kernel_id: str, **headers: str) -> dict[str, Any]:
    path = f"shoulders/api/v1/kernels/{kernel_id}/proxy-secret"
    answer = await http.post(path, headers=headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    http.cookies.clear()  # of the login
    return answer.json()


async def test_the_secret_of_a_kernel_opens_the_proxy_and_nothing_of_jupyters(
    *,
    http: httpx.AsyncClient,
    proxy_url: str,
    jp_fetch: Fetch,
    jp_serverapp: Any,
    upstream: Simulator,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    kernel_id = await start_kernel(jp_fetch)
    token = jp_serverapp.identity_provider.token
    given = await secret_of(http, kernel_id, Authorization=f"token {token}")
    secret = given["secret"]
    assert proxy_url.endswith(given["path"])
    upstream.script("One.", "Two.", "Three.")

    async with AsyncOpenAI(base_url=f"{proxy_url}/v1", api_key=secret, max_retries=0) as sdk:
        assert (await sdk.responses.create(model=LOCAL, input="Hi")).output_text == "One."
        assert LOCAL in [model.id async for model in sdk.models.list()]
        with pytest.raises(openai.NotFoundError, match="no route GET"):
            await sdk.responses.retrieve("resp_1")
    async with AsyncAnthropic(base_url=proxy_url, api_key=secret, max_retries=0) as claude:
        await claude.messages.create(
            model=LOCAL, max_tokens=99, messages=[{"role": "user", "content": "Hi"}]
        )
    headers = {"x-goog-api-key": secret}
    answer = await http.post("shoulders/proxy/v1/chat/completions", headers=headers, json=ASK)
    assert answer.json()["choices"][0]["message"]["content"] == "Three."

    for headers in ({"Authorization": f"token {secret}"}, {"x-api-key": secret}):
        for path in ("api/kernels", "api/contents", "shoulders/api/v1/audit", "api/me"):
            assert (await http.get(path, headers=headers)).status_code == 403, path
        for path in (f"shoulders/api/v1/kernels/{kernel_id}/proxy-secret", "api/kernels"):
            assert (await http.post(path, headers=headers)).status_code == 403, path
    assert secret not in caplog.text
    assert (await http.get(f"api/kernels?token={secret}")).status_code == 403

    await jp_fetch("api", "kernels", kernel_id, method="DELETE")
    answer = await http.post(
        "shoulders/proxy/v1/chat/completions", headers={"x-api-key": secret}, json=ASK
    )
    assert answer.status_code == 401
    assert "secret of a kernel" in answer.json()["error"]["message"]


async def test_there_is_no_secret_for_a_kernel_that_is_not_there(
    http: httpx.AsyncClient, jp_serverapp: Any
) -> None:
    token = jp_serverapp.identity_provider.token
    answer = await http.post(
        "shoulders/api/v1/kernels/nothing/proxy-secret", headers={"Authorization": f"token {token}"}
    )

    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == "no_kernel"


class OnlyReaders(Authorizer):
    """Lets users read, and some of them write."""

    writers: ClassVar[set[str]] = set()
    seen: ClassVar[list[str]] = []

    def is_authorized(self, handler: Any, user: Any, action: str, resource: str) -> bool:
        del handler
        if resource == "shoulders":
            self.seen.append(user.username)
            return action == "read" or user.username in self.writers
        return True


class Hub(IdentityProvider):
    """Accepts the tokens of a hub's users, as JupyterHub's single-user extension does.

    That one asks the hub for the owner of a token, and records that a token was sent.
    """

    users: ClassVar[dict[str, str]] = {"hub-token-ada": "ada", "hub-token-bob": "bob"}

    @property
    def token(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride] - as the hub's
        """The server's own token at the hub; here it belongs to nobody."""
        return "the-server-s-own"

    async def get_user(self, handler: Any) -> User | None:
        """Ask the hub."""
        await asyncio.sleep(0)
        header = handler.request.headers.get("Authorization", "")
        given = re.match(r"(?:token|bearer)\s+(.+)", header, re.IGNORECASE)
        name = self.users.get(given.group(1)) if given else None
        handler._token_authenticated = name is not None
        return None if name is None else User(name)


class TestOnAHub:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        OnlyReaders.writers = {"ada"}
        OnlyReaders.seen.clear()
        jp_server_config.ServerApp.identity_provider_class = Hub
        jp_server_config.ServerApp.authorizer_class = OnlyReaders
        return jp_server_config

    @pytest.mark.parametrize("header", ["Authorization", "x-api-key", "x-goog-api-key"])
    async def test_the_user_s_hub_token_opens_the_proxy(
        self, http: httpx.AsyncClient, upstream: Simulator, header: str
    ) -> None:
        upstream.script("Hi.")
        given = "hub-token-ada"
        headers = {header: f"Bearer {given}" if header == "Authorization" else given}
        answer = await http.post("shoulders/proxy/v1/chat/completions", headers=headers, json=ASK)

        assert answer.status_code == 200
        assert OnlyReaders.seen == ["ada"]

    @pytest.mark.parametrize("given", ["", "hub-token-eve", "the-server-s-own"])
    async def test_no_other_token_does(
        self, http: httpx.AsyncClient, upstream: Simulator, given: str
    ) -> None:
        headers = {"x-api-key": given}
        answer = await http.post("shoulders/proxy/v1/chat/completions", headers=headers, json=ASK)

        assert answer.status_code == 401
        assert upstream.requests == []

    async def test_a_kernel_s_secret_may_do_what_its_user_may(
        self, http: httpx.AsyncClient, upstream: Simulator, jp_serverapp: Any
    ) -> None:
        upstream.script("Hi.")
        manager = jp_serverapp.kernel_manager
        kernel_id = await manager.start_kernel()
        given = await secret_of(http, kernel_id, Authorization="token hub-token-ada")
        headers = {"x-api-key": given["secret"]}
        path = "shoulders/proxy/v1/chat/completions"

        allowed = await http.post(path, headers=headers, json=ASK)
        OnlyReaders.writers = set()
        refused = await http.post(path, headers=headers, json=ASK)
        await manager.shutdown_kernel(kernel_id, now=True)

        assert (allowed.status_code, refused.status_code) == (200, 403)
        assert set(OnlyReaders.seen) == {"ada"}
        assert len(upstream.requests) == 1

    async def test_a_user_who_may_not_write_gets_no_secret(self, http: httpx.AsyncClient) -> None:
        answer = await http.post(
            "shoulders/api/v1/kernels/x/proxy-secret",
            headers={"Authorization": "token hub-token-bob"},
        )

        assert answer.status_code == 403


class TestWithAPasswordOnly:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        partly_typed: Any = security
        hashed = partly_typed.passwd(PASSWORD, algorithm="sha1")
        jp_server_config.PasswordIdentityProvider.hashed_password = hashed
        jp_server_config.ServerApp.token = ""  # else the fixture gives it one
        return jp_server_config

    async def test_a_kernel_s_secret_opens_the_proxy(
        self, http: httpx.AsyncClient, upstream: Simulator, jp_serverapp: Any
    ) -> None:
        assert jp_serverapp.identity_provider.token == ""
        upstream.script("Hi.")
        manager = jp_serverapp.kernel_manager
        kernel_id = await manager.start_kernel()
        await http.get("login")
        xsrf = http.cookies["_xsrf"]
        await http.post("login", data={"password": PASSWORD, "_xsrf": xsrf})
        given = await secret_of(http, kernel_id, **{"X-XSRFToken": xsrf})
        path = "shoulders/proxy/v1/chat/completions"

        answers = [
            await http.post(path, headers={"x-api-key": key}, json=ASK)
            for key in (given["secret"], "", PASSWORD)
        ]
        await manager.shutdown_kernel(kernel_id, now=True)

        assert [answer.status_code for answer in answers] == [200, 401, 401]


@pytest.mark.parametrize("method", ["OPTIONS", "GET", "POST"])
@pytest.mark.parametrize("key", [True, False], ids=["with the token", "without"])
async def test_no_page_of_another_origin_is_let_in(
    *,
    http: httpx.AsyncClient,
    upstream: Simulator,
    jp_serverapp: Any,
    method: str,
    key: bool,
) -> None:
    upstream.script("Hi.")
    headers = {
        "Origin": "https://evil.example",
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization",
    }
    if key:
        headers["x-api-key"] = jp_serverapp.identity_provider.token
    path = "models" if method == "GET" else "chat/completions"
    body = ASK if method == "POST" else None

    answer = await http.request(method, f"shoulders/proxy/v1/{path}", headers=headers, json=body)

    assert [name for name in answer.headers if name.startswith("access-control")] == []
    if not key or method == "OPTIONS":
        assert answer.status_code in {401, 404}
