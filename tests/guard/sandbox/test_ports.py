"""The ports of Jupyter servers are closed to sandboxed commands that may use the network."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Collection
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard.process.port_rules import PortRulesCache
from jupyter_ai_shoulders.guard.process.program import ProgramExit
from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities, detect_capabilities
from jupyter_ai_shoulders.guard.sandbox.protected_paths import SandboxLocations
from jupyter_ai_shoulders.guard.sandbox.sandbox import Sandbox
from jupyter_ai_shoulders.guard.sandbox.sandbox_policy import SandboxPolicy, SandboxRequest
from jupyter_ai_shoulders.guard.sandbox.wrapper_commands import seatbelt_profile
from jupyter_ai_shoulders.guard.spawner import landlock
from tests.guard.command_runner import program

NETWORK = SandboxRequest(network=True)


@pytest.fixture(scope="module")
def capabilities() -> SandboxCapabilities:
    return asyncio.run(detect_capabilities(SpawnerPool()))


async def connected(
    folder: Path,
    capabilities: SandboxCapabilities,
    port: int,
    closed: Collection[int],
    prepared: Collection[int],
) -> bool:
    """Return whether a command connects to a port; ``prepared`` are the ports of the spawner's
    rules.
    """
    locations = SandboxLocations(folder, folder / ".shoulders", folder / "home", dict(os.environ))

    async def detected() -> SandboxCapabilities:
        return capabilities

    sandbox = Sandbox(locations, detected, lambda: closed)
    line = f"exec 3<>/dev/tcp/127.0.0.1/{port}"
    spawners = SpawnerPool(lambda: prepared)
    with sandbox.confined(program(line, folder), capabilities, NETWORK) as confined:
        spawner = await spawners.acquire()
        try:
            async with aclosing(spawner.run(confined)) as items:
                ended = [item async for item in items if isinstance(item, ProgramExit)]
        finally:
            await spawner.aclose()
            await spawners.aclose()
    return ended[0].code == 0


@pytest.mark.parametrize(
    "prepared", ["the same", "none", "others"], ids=lambda name: f"prepared: {name}"
)
async def test_a_closed_port_is_out_of_reach_and_others_are_not(
    tmp_path: Path, capabilities: SandboxCapabilities, prepared: str
) -> None:
    """Rules the spawner was not started with are made when the command starts."""
    with socket.create_server(("", 0)) as server, socket.create_server(("", 0)) as other:
        closed, free = server.getsockname()[1], other.getsockname()[1]
        had = {"the same": [closed], "none": [], "others": [free]}[prepared]
        if not capabilities.closes_ports:
            assert (
                capabilities.kind in {"none", "bubblewrap"} or landlock.abi() < landlock.NETWORK_ABI
            )
            return

        assert not await connected(tmp_path, capabilities, closed, [closed], had)
        assert await connected(tmp_path, capabilities, free, [closed], had)


@pytest.mark.parametrize("closes", [False, True])
@pytest.mark.parametrize("network", [False, True])
def test_servers_that_cannot_be_kept_away_are_told(
    tmp_path: Path, closes: bool, network: bool
) -> None:
    locations = SandboxLocations(tmp_path, tmp_path / ".shoulders", tmp_path / "home", {})
    capabilities = SandboxCapabilities("landlock", covers=True, closes_ports=closes)

    async def detected() -> SandboxCapabilities:
        return capabilities

    exposed = Sandbox(locations, detected).exposure(capabilities, SandboxRequest(network=network))

    assert exposed.servers == (network and not closes)


def test_rules_are_made_again_only_when_the_ports_change(capabilities: SandboxCapabilities) -> None:
    ports = [8888]
    cache = PortRulesCache(lambda: ports)
    try:
        first, second = cache.rules(), cache.rules()
        ports.append(8889)
        third = cache.rules()
        ports.clear()

        assert cache.rules() is None
        if not capabilities.closes_ports:
            assert (first, second, third) == (None, None, None)
            return
        assert first is not None
        assert second is not None
        assert third is not None
        assert first.closed == second.closed == {8888}
        assert third.closed == {8888, 8889}
        same = os.path.samestat(os.fstat(first.descriptor), os.fstat(second.descriptor))
        assert same
        assert not os.get_inheritable(first.descriptor)
        for rules in (first, second, third):
            os.close(rules.descriptor)
    finally:
        cache.close()


def test_seatbelt_closes_single_ports() -> None:
    policy = SandboxPolicy([], [], {}, [], network=True, cover=True, closed_ports=[8888])

    assert '(deny network-outbound (remote tcp "*:8888"))' in seatbelt_profile(policy)
    assert "8888" not in seatbelt_profile(replace(policy, closed_ports=()))
