"""Environment of a server's kernels, however they are started, and that they always start."""

from __future__ import annotations

import os
from typing import Any

import pytest
from jupyter_server.auth import User

from jupyter_ai_shoulders.host.key_environment import KeyEnvironment
from jupyter_ai_shoulders.server.auth.kernel_secrets import KernelSecrets
from jupyter_ai_shoulders.server.kernels.environment import inject_kernel_environment

URL = "http://127.0.0.1:8888/base/"
NAMES = {"SHOULDERS_URL", "SHOULDERS_KERNEL_ID", "SHOULDERS_PROXY_URL", "SHOULDERS_PROXY_SECRET"}


class Kernels:
    """A kernel manager that records how it starts kernels."""

    def __init__(self) -> None:
        self.started: dict[str, dict[str, Any]] = {}
        self.running: set[str] = set()
        self.fails = False

    async def start_kernel(self, *, kernel_id: str | None = None, **kwargs: Any) -> str:
        assert kernel_id is not None
        if self.fails:
            raise OSError("no such program")
        self.started[kernel_id] = kwargs
        self.running.add(kernel_id)
        return kernel_id

    def new_kernel_id(self, **kwargs: Any) -> str:
        return f"k{len(self.started) + 1}"

    def __contains__(self, kernel_id: object) -> bool:
        return kernel_id in self.running


@pytest.fixture
def kernels() -> Kernels:
    return Kernels()


@pytest.fixture
def secrets(kernels: Kernels) -> KernelSecrets:
    granted = KernelSecrets(lambda kernel_id: kernel_id in kernels)

    async def source() -> KernelSecrets:
        return granted

    inject_kernel_environment(kernels, lambda: URL, source)
    return granted


async def test_a_kernel_is_told_and_keeps_its_environment(
    kernels: Kernels, secrets: KernelSecrets
) -> None:
    given = await kernels.start_kernel(env={"A": "1"}, kernel_name="python3", path="sub")
    plain = await kernels.start_kernel()

    env = kernels.started[given].pop("env")
    assert kernels.started[given] == {"kernel_name": "python3", "path": "sub"}
    assert env == {
        "A": "1",
        "SHOULDERS_URL": URL,
        "SHOULDERS_KERNEL_ID": given,
        "SHOULDERS_PROXY_URL": "http://127.0.0.1:8888/base/shoulders/proxy",
        "SHOULDERS_PROXY_SECRET": env["SHOULDERS_PROXY_SECRET"],
    }
    user = secrets.user_of(env["SHOULDERS_PROXY_SECRET"])
    assert user is not None
    assert user.username == "kernel"
    assert {**os.environ} == {
        name: value for name, value in kernels.started[plain]["env"].items() if name not in NAMES
    }


@pytest.mark.parametrize("given", [None, {"A": "1", "LAB_KEY": "x"}], ids=["ours", "a caller's"])
async def test_a_kernel_starts_in_the_cleaned_environment(
    kernels: Kernels, monkeypatch: pytest.MonkeyPatch, given: dict[str, str] | None
) -> None:
    monkeypatch.setenv("LAB_KEY", "x")
    keys = KeyEnvironment({})

    async def source() -> KernelSecrets:
        keys.withdraw(["LAB_KEY"])  # named by a catalogue that is read only now
        return KernelSecrets(lambda _: True)

    inject_kernel_environment(kernels, lambda: URL, source, keys.without_keys)
    arguments: dict[str, Any] = {} if given is None else {"env": given}
    started = await kernels.start_kernel(**arguments)

    env = kernels.started[started]["env"]
    assert "LAB_KEY" not in env
    assert "SHOULDERS_PROXY_SECRET" in env


async def test_a_kernel_of_a_hub_acts_for_the_user_the_server_was_started_for(
    kernels: Kernels, secrets: KernelSecrets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JUPYTERHUB_USER", "ada")
    started = await kernels.start_kernel()

    user = secrets.user_of(kernels.started[started]["env"]["SHOULDERS_PROXY_SECRET"])
    assert user == User("ada")


async def test_a_kernel_that_runs_is_left_as_it_is(
    kernels: Kernels, secrets: KernelSecrets
) -> None:
    kernels.running.add("mine")
    await kernels.start_kernel(kernel_id="mine", path="x")

    assert kernels.started["mine"] == {"path": "x"}


async def test_a_secret_is_gone_with_a_kernel_that_did_not_start(
    kernels: Kernels, secrets: KernelSecrets
) -> None:
    kernels.fails = True
    with pytest.raises(OSError, match="no such program"):
        await kernels.start_kernel(kernel_id="late")
    kernels.running.add("other")
    secret = secrets.issue("other", User("ada"))
    kernels.running.add("late")

    fresh = secrets.issue("late", User("kernel"))
    assert {user and user.username for user in map(secrets.user_of, (secret, fresh))} == {
        "ada",
        "kernel",
    }


async def test_a_secret_of_a_kernel_that_starts_outlives_that_others_are_forgotten(
    kernels: Kernels, secrets: KernelSecrets
) -> None:
    kernels.running.add("other")
    with secrets.starting("slow"):
        secret = secrets.issue("slow", User("ada"))
        secrets.issue("other", User("bob"))
        kernels.running.add("slow")

    assert secrets.user_of(secret) == User("ada")


async def test_a_kernel_starts_although_we_fail(
    kernels: Kernels, caplog: pytest.LogCaptureFixture
) -> None:
    async def broken() -> KernelSecrets:
        raise ImportError("no pydantic here")

    inject_kernel_environment(kernels, lambda: URL, broken)
    started = await kernels.start_kernel()

    assert kernels.started[started]["env"] == {**os.environ}
    assert "no pydantic here" in caplog.text
