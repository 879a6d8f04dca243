"""Known sandbox escapes, tried in ours: as root and as an ordinary user, with and without private
mounts.

Nothing is skipped; see ``tests.guard.sandbox.escape_attempts``.
"""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities
from jupyter_ai_shoulders.guard.spawner import landlock
from tests.guard.sandbox.escape_harness import Case, Tried, machine_facts, tried

GROUPS = (
    *("metadata outside", "metadata of a folder", "metadata of what is read", "open_file"),
    *("files", "processes", "shared", "kernel", "daemons", "closed_port"),
)
HIDDEN = "files: hidden"
"""Where nothing can be covered, the user is asked instead."""


@pytest.fixture(scope="session")
def capabilities() -> SandboxCapabilities:
    return machine_facts()


def attempted(case: Case, capabilities: SandboxCapabilities, *groups: str) -> Tried | None:
    """Run the attempts; None where this system cannot confine a command in this way."""
    if capabilities.kind != "landlock":
        assert capabilities.kind in {"none", "bubblewrap", "seatbelt"}
        return None
    if case.cover and not capabilities.covers:
        assert "cannot be hidden" in capabilities.detail
        return None
    found = tried(case, capabilities, groups)
    if found.confined == "yes":
        return found
    assert case.cover, found.confined  # this user may not create mounts
    assert case.ordinary, found.confined
    return None


@pytest.mark.parametrize("network", [False, True], ids=["no network", "network"])
@pytest.mark.parametrize("cover", [True, False], ids=["own mounts", "shared mounts"])
@pytest.mark.parametrize("ordinary", [False, True], ids=["this user", "ordinary user"])
def test_no_known_escape_succeeds(
    capabilities: SandboxCapabilities, ordinary: bool, cover: bool, network: bool
) -> None:
    case = Case(ordinary, cover, network)
    signals = ("signals",) if landlock.abi() >= landlock.SCOPE_ABI else ()

    found = attempted(case, capabilities, *GROUPS, *signals)

    if found is None:
        return
    expected = set[str]() if cover else {HIDDEN}
    if network and not capabilities.closes_ports:
        expected |= {name for name in found.reached if name.startswith("closed_port")}
    assert set(found.reached) == expected
    assert found.changed == []
    assert len(found.refused) > 250


@pytest.mark.parametrize("cover", [True, False], ids=["own mounts", "shared mounts"])
@pytest.mark.parametrize("ordinary", [False, True], ids=["this user", "ordinary user"])
def test_a_read_only_workspace_is_not_changed_at_all(
    capabilities: SandboxCapabilities, ordinary: bool, cover: bool
) -> None:
    case = Case(ordinary, cover, read_only=True)

    found = attempted(case, capabilities, "workspace", "open_file")

    if found is None:
        return
    assert found.reached == {}
    assert found.changed == []


def test_only_the_network_opens_the_network(capabilities: SandboxCapabilities) -> None:
    without = attempted(Case(), capabilities, "internet")
    with_network = attempted(Case(network=True), capabilities, "internet")

    if without is None or with_network is None:
        return
    assert without.reached == {}
    assert with_network.refused == {}
