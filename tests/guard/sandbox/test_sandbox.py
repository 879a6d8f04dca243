"""Restrictions of a sandboxed command, tried with the sandbox of this system.

On a system without a sandbox, the tests check that this is reported and nothing claims to be
confined. Nothing is skipped.
"""

from __future__ import annotations

import asyncio
import os
import socket
import tty
from collections.abc import Generator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.sandbox.capabilities import (
    NO_SANDBOX,
    Detect,
    SandboxCapabilities,
    detect_capabilities,
)
from jupyter_ai_shoulders.guard.sandbox.protected_paths import (
    SandboxLocations,
    find_protected_paths,
    program_folders,
)
from jupyter_ai_shoulders.guard.sandbox.sandbox import Sandbox
from jupyter_ai_shoulders.guard.sandbox.sandbox_policy import SandboxPolicy, SandboxRequest
from jupyter_ai_shoulders.guard.sandbox.wrapper_commands import (
    bubblewrap_arguments,
    seatbelt_profile,
)
from jupyter_ai_shoulders.guard.spawner import landlock, seccomp
from tests.guard.command_runner import CommandResult, program, run_command

WRITES = (
    *("echo x > {out}/new", "echo x > {out}/old", ": >> {out}/old", "truncate -s 0 {out}/old"),
    *(
        "rm {out}/old",
        "mv {out}/old here",
        "mv inside {out}/x",
        "mkdir {out}/d",
        "cp inside {out}/x",
    ),
    *("ln inside {out}/x", "ln -s x {out}/x", "ln {out}/old here", "rmdir {out}/empty"),
    *("mkfifo {out}/f", "ln -s {out} way && echo x > way/new", "ln -s {out}/old w && echo x > w"),
    "python3 -c \"import os; os.truncate('{out}/old', 0)\"",
    "python3 -c \"import os; os.open('{out}/old', os.O_TRUNC)\"",
    "python3 -c \"import os; os.rename('inside', '{out}/x')\"",
    "cd /; echo x > {out}/new",
    "exec 3<{out}; echo x > /proc/self/fd/3/new",
    "(setsid bash -c 'echo x > {out}/new') ",
    "env -i /bin/bash -c 'echo x > {out}/new'",
    "echo x > /tmp/shoulders-test-outside",
    "echo x > /var/tmp/shoulders-test-outside",
    "echo x > /dev/shm/../../{out}/new",
    "touch $HOME_OF_USER/new",
)
READS = ("cat {out}/old", "ls {out}", "cat $HOME_OF_USER/.ssh/id_rsa", "head -c 1 /etc/shadow")
IN_WORKSPACE = ("cat .env", "cat .shoulders/state.db", "cat deep/er/.env.local", "cat .ssh/id_rsa")
KERNEL = (
    "unshare -Ur true",
    "unshare -m true",
    "mount -t tmpfs none {ws}",
    "mount --bind {out} {ws}",
    "chroot {out} true",
    "umount .env",
    "mknod {ws}/disk b 8 0",
    'python3 -c "import ctypes; exit(ctypes.CDLL(None).syscall(425, 1, 0) < 0)"',
)
SOCKETS = {
    "tcp": "s.socket(s.AF_INET, s.SOCK_STREAM).connect(('127.0.0.1', {port}))",
    "tcp 6": "s.socket(s.AF_INET6, s.SOCK_STREAM).connect(('::1', {port}))",
    "listen": "s.socket().bind(('127.0.0.1', 0))",
    "udp": "s.socket(s.AF_INET, s.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', {port}))",
    "raw": "s.socket(s.AF_INET, s.SOCK_RAW, 1)",
    "unix": "s.socket(s.AF_UNIX).connect('{out}/daemon')",
    "packet": "s.socket(17, s.SOCK_RAW)",
    "netlink": "s.socket(16, s.SOCK_RAW)",
    "vsock": "s.socket(40, s.SOCK_STREAM)",
}


@dataclass(frozen=True, slots=True)
class SandboxScenario:
    """A workspace with secrets, a home with keys, and a folder outside both."""

    locations: SandboxLocations
    outside: Path
    capabilities: SandboxCapabilities

    @property
    def workspace(self) -> Path:
        return self.locations.workspace

    @property
    def holds(self) -> bool:
        return self.capabilities.kind != "none"

    async def run(
        self, line: str, request: SandboxRequest | None = None, **capabilities: bool
    ) -> CommandResult:
        """Run a line in the sandbox."""
        asked = program(line, self.workspace)
        asked = replace(
            asked,
            environment={**asked.environment, "HOME_OF_USER": str(self.locations.home), "A": "1"},
        )
        box = Sandbox(self.locations, _knows(self.capabilities))
        held = replace(self.capabilities, **capabilities) if capabilities else self.capabilities
        with box.confined(asked, held, request or SandboxRequest()) as confined:
            return await run_command(confined)

    def spelled(self, line: str, **more: object) -> str:
        return (
            line.replace("{out}", str(self.outside))
            .replace("{ws}", str(self.workspace))
            .replace("{port}", str(more.get("port", "")))
        )


def _knows(capabilities: SandboxCapabilities) -> Detect:
    async def told() -> SandboxCapabilities:
        return capabilities

    return told


@pytest.fixture(scope="session")
def capabilities() -> SandboxCapabilities:
    """Return the detected sandbox of this machine."""
    return asyncio.run(detect_capabilities(SpawnerPool()))


@pytest.fixture
def scenario(tmp_path: Path, capabilities: SandboxCapabilities) -> Generator[SandboxScenario]:
    workspace, home, outside = (tmp_path / name for name in ("workspace", "home", "outside"))
    for path, text in {
        workspace / "inside": "inside",
        workspace / ".env": "SECRET=workspace",
        workspace / "deep/er/.env.local": "SECRET=deep",
        workspace / ".ssh/id_rsa": "SECRET key",
        workspace / ".shoulders/state.db": "SECRET conversations",
        workspace / ".shoulders/skills/plot/SKILL.md": "a skill",
        home / ".ssh/id_rsa": "SECRET home",
        outside / "old": "SECRET old",
        outside / "empty/x": "",
    }.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    (outside / "empty/x").unlink()
    locations = SandboxLocations(workspace, workspace / ".shoulders", home, dict(os.environ))
    yield SandboxScenario(locations, outside, capabilities)
    for name in ("/tmp", "/var/tmp"):
        (Path(name) / "shoulders-test-outside").unlink(missing_ok=True)


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


def test_what_there_is_is_told_as_it_is(capabilities: SandboxCapabilities) -> None:
    """The kind, and the reason if there is none, match the kernel's answer."""
    version = landlock.abi()
    if version >= landlock.OLDEST_ABI and seccomp.available():
        assert capabilities.kind == "landlock"
        assert f"ABI {version}" in capabilities.detail
        assert capabilities.covers or "cannot be hidden" in capabilities.detail
    elif capabilities.kind == "none":
        assert capabilities.detail.startswith(NO_SANDBOX.detail)
    else:
        assert capabilities.kind in {"bubblewrap", "seatbelt", "landlock"}


@pytest.mark.parametrize("line", WRITES)
async def test_nothing_outside_is_written(scenario: SandboxScenario, line: str) -> None:
    before, home = snapshot(scenario.outside), snapshot(scenario.locations.home)
    if not scenario.holds:
        assert scenario.capabilities == replace(NO_SANDBOX, detail=scenario.capabilities.detail)
        return

    done = await scenario.run(scenario.spelled(line))

    assert done.ended.code != 0, done.all
    assert snapshot(scenario.outside) == before
    assert snapshot(scenario.locations.home) == home
    assert not any(
        (Path(name) / "shoulders-test-outside").exists() for name in ("/tmp", "/var/tmp")
    )


@pytest.mark.parametrize("line", READS)
async def test_nothing_secret_outside_is_read(scenario: SandboxScenario, line: str) -> None:
    if not scenario.holds:
        assert scenario.capabilities.kind == "none"
        return

    done = await scenario.run(scenario.spelled(line))

    assert "SECRET" not in done.all
    assert "old" not in done.out
    assert done.out == ""


@pytest.mark.parametrize("line", IN_WORKSPACE)
async def test_what_is_secret_in_the_workspace_is_hidden_or_told_to_be_open(
    scenario: SandboxScenario, line: str
) -> None:
    box = Sandbox(scenario.locations, _knows(scenario.capabilities))
    exposed = box.exposure(scenario.capabilities, SandboxRequest())
    if not scenario.holds:
        assert exposed.paths == tuple(map(str, find_protected_paths(scenario.locations).secret))
        return

    done = await scenario.run(line)

    assert ("SECRET" in done.all) == (not scenario.capabilities.covers)
    assert bool(exposed.paths) == (not scenario.capabilities.covers)


@pytest.mark.parametrize("covers", [False, True])
@pytest.mark.parametrize("line", IN_WORKSPACE)
async def test_a_read_only_workspace_hides_its_secrets_on_every_kernel(
    scenario: SandboxScenario, line: str, covers: bool
) -> None:
    if not scenario.holds or (covers and not scenario.capabilities.covers):
        assert not (scenario.holds and scenario.capabilities.covers)
        return

    done = await scenario.run(line, SandboxRequest(read_only=True), covers=covers)
    look = await scenario.run(
        "cat inside; cat .shoulders/skills/plot/SKILL.md; ls", SandboxRequest(read_only=True)
    )
    write = await scenario.run(
        "echo x > inside; echo x > new; rm inside", SandboxRequest(read_only=True)
    )

    assert "SECRET" not in done.all
    assert look.out.startswith("insidea skill")
    assert write.ended.code != 0
    assert (scenario.workspace / "inside").read_text() == "inside"
    assert not (scenario.workspace / "new").exists()


async def test_the_state_directory_cannot_be_changed_and_skills_can_be_read(
    scenario: SandboxScenario,
) -> None:
    if not scenario.capabilities.covers:
        assert "hidden" in scenario.capabilities.detail or not scenario.holds
        return

    done = await scenario.run(
        "cat .shoulders/skills/plot/SKILL.md; echo '{}' > .shoulders/tools.json; "
        "rm -rf .shoulders; mv .shoulders away; echo x > .shoulders/skills/plot/SKILL.md"
    )

    assert done.out == "a skill"
    assert snapshot(scenario.workspace / ".shoulders") == {
        "state.db": b"SECRET conversations",
        "skills": None,
        "skills/plot": None,
        "skills/plot/SKILL.md": b"a skill",
    }


async def test_programs_of_the_server_in_the_workspace_cannot_be_changed(
    scenario: SandboxScenario,
) -> None:
    """An environment in the project: programs a command wrote there would run without a sandbox."""
    programs = scenario.workspace / "venv/bin"
    (programs.parent / "lib").mkdir(parents=True)
    programs.mkdir()
    (programs / "git").write_text("#!/bin/sh\necho fine\n")
    (programs / "git").chmod(0o755)
    environ = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    scenario = replace(scenario, locations=replace(scenario.locations, environ=environ))
    box = Sandbox(scenario.locations, _knows(scenario.capabilities))
    before = snapshot(scenario.workspace / "venv")
    if not scenario.capabilities.covers:
        assert str(programs.parent) in box.exposure(scenario.capabilities, SandboxRequest()).paths
        return

    done = await scenario.run(
        "venv/bin/git; echo x > venv/bin/git; echo x > venv/lib/sitecustomize.py; "
        "rm -rf venv; mv venv away"
    )

    assert done.out == "fine\n"
    assert snapshot(scenario.workspace / "venv") == before


@pytest.mark.parametrize("attempt", SOCKETS.values(), ids=list(SOCKETS))
async def test_the_network_cannot_be_reached(scenario: SandboxScenario, attempt: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(scenario.outside / "daemon"))
        daemon.listen()
        server.settimeout(0.01)
        if not scenario.holds:
            assert scenario.capabilities.kind == "none"
            return
        port = server.getsockname()[1]
        code = scenario.spelled(attempt, port=port)

        done = await scenario.run(f'python3 -c "import socket as s; {code}"')

        assert done.ended.code == 1, done.all
        assert "Error" in done.all
        with pytest.raises(TimeoutError):
            server.accept()


async def test_the_network_is_there_when_it_is_allowed(scenario: SandboxScenario) -> None:
    if not scenario.holds:
        assert scenario.capabilities.kind == "none"
        return
    with socket.create_server(("127.0.0.1", 0)) as server:
        code = scenario.spelled(SOCKETS["tcp"], port=server.getsockname()[1])

        done = await scenario.run(
            f'python3 -c "import socket as s; {code}"', SandboxRequest(network=True)
        )

        assert done.ended.code == 0, done.all


@pytest.mark.parametrize("name", ["unix", "packet", "vsock"])
async def test_the_network_that_is_allowed_is_the_internet(
    scenario: SandboxScenario, name: str
) -> None:
    """Daemons of the machine cannot be used to act outside the sandbox."""
    if not scenario.holds:
        assert scenario.capabilities.kind == "none"
        return
    with socket.socket(socket.AF_UNIX) as daemon:
        daemon.bind(str(scenario.outside / "daemon"))
        daemon.listen()
        code = scenario.spelled(SOCKETS[name])

        done = await scenario.run(
            f'python3 -c "import socket as s; {code}"', SandboxRequest(network=True)
        )

        assert done.ended.code == 1, done.all
        assert "Error" in done.all


@pytest.mark.parametrize("line", KERNEL)
async def test_the_sandbox_cannot_be_left_through_the_kernel(
    scenario: SandboxScenario, line: str
) -> None:
    if not scenario.holds:
        assert scenario.capabilities.kind == "none"
        return

    done = await scenario.run(scenario.spelled(line))

    assert done.ended.code != 0, done.all
    assert "SECRET" not in done.all


async def test_the_server_is_out_of_reach(scenario: SandboxScenario) -> None:
    """Its environment and memory cannot be read, and it cannot be signalled (ABI 6)."""
    if not scenario.holds:
        assert scenario.capabilities.kind == "none"
        return
    me = os.getpid()

    done = await scenario.run(
        f"cat /proc/{me}/environ /proc/{me}/mem; kill -0 {me} && echo reached"
    )

    assert done.out.replace("reached\n", "") == ""
    assert ("reached" in done.out) == (landlock.abi() < landlock.SCOPE_ABI)


@pytest.mark.parametrize("covers", [False, True])
async def test_the_users_terminals_are_out_of_reach(
    scenario: SandboxScenario, covers: bool
) -> None:
    """Text typed into one cannot be read, and nothing can be written to it."""
    if not scenario.holds or (covers and not scenario.capabilities.covers):
        assert not (scenario.holds and scenario.capabilities.covers)
        return
    user, theirs = os.openpty()
    try:
        os.set_blocking(user, False)
        tty.setraw(theirs)
        os.write(user, b"SECRET\n")
        name = os.ttyname(theirs)

        done = await scenario.run(f"echo x > {name}; head -n 1 < {name}", covers=covers)

        assert "SECRET" not in done.all
        assert done.ended.code != 0
        with pytest.raises(BlockingIOError):
            os.read(user, 1)
    finally:
        os.close(user)
        os.close(theirs)


async def test_ordinary_work_goes_on_inside(scenario: SandboxScenario) -> None:
    if not scenario.holds:
        assert scenario.capabilities.kind == "none"
        return
    done = await scenario.run(
        "set -e; echo new > new; cat new; mkdir d; mv new d/; cp d/new copy; rm d/new; rmdir d; "
        "chmod +x copy; touch $TMPDIR/t ~/h; python3 -c 'import json, ssl; print(json.dumps(1))'; "
        "python3 -c 'import subprocess as p; print(p.check_output([\"uname\"]).decode())'; "
        "git init -q .; git status --short | head -1; echo x > /dev/null; ls /usr > $TMPDIR/l"
    )

    assert done.ended.code == 0, done.all
    assert done.out.startswith("new\n1\nLinux")
    assert (scenario.workspace / "copy").exists()


async def test_the_private_home_is_gone_afterwards(scenario: SandboxScenario) -> None:
    if not scenario.holds:
        assert scenario.capabilities.kind == "none"
        return

    done = await scenario.run("echo $HOME; touch ~/x")

    home = Path(done.out.strip())
    assert home != scenario.locations.home
    assert not await asyncio.to_thread(home.exists)


def test_a_home_as_workspace_has_its_credentials_named(tmp_path: Path) -> None:
    for name in (".ssh/id", ".aws/credentials", ".config/gcloud/x", ".bash_history", "ok/a.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    locations = SandboxLocations(tmp_path, tmp_path / ".shoulders", tmp_path, {})

    found = {
        path.relative_to(tmp_path).as_posix() for path in find_protected_paths(locations).secret
    }

    assert found == {".shoulders", ".ssh", ".aws", ".config/gcloud", ".bash_history"}


def test_no_place_of_programs_opens_a_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "conda/lib").mkdir(parents=True)
    (home / "conda/bin").mkdir()
    (home / ".local/bin").mkdir(parents=True)
    path = os.pathsep.join(map(str, (home, home / "conda/bin", home / ".local/bin", "/", "rel")))
    locations = SandboxLocations(tmp_path / "w", tmp_path / "w/.shoulders", home, {"PATH": path})

    found = program_folders(locations)

    assert {str(home / "conda"), str(home / ".local/bin")} <= set(found)
    assert not {str(home), "/", str(home / ".local"), str(tmp_path)} & set(found)


POLICY = SandboxPolicy(
    read=["/usr", "/proc"],
    write=['/w "x"'],
    hidden={"/w/.env": "/private/file"},
    readable_exceptions=["/w/.shoulders/skills"],
    network=False,
    cover=True,
)


def test_bubblewrap_gets_the_same_policy() -> None:
    assert bubblewrap_arguments(POLICY, Path("/w"), "/opt/bwrap") == [
        *("/opt/bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--dev", "/dev"),
        *("--proc", "/proc", "--tmpfs", "/tmp", "--ro-bind-try", "/usr", "/usr"),
        *("--bind-try", '/w "x"', '/w "x"', "--ro-bind", "/private/file", "/w/.env"),
        *("--ro-bind-try", "/w/.shoulders/skills", "/w/.shoulders/skills", "--chdir", "/w", "--"),
    ]


def test_seatbelt_gets_the_same_policy() -> None:
    profile = seatbelt_profile(POLICY)

    assert '(allow file-read* file-write* (subpath "/w \\"x\\""))' in profile
    assert profile.index("/w/.env") > profile.index("file-write* (subpath")
    assert profile.endswith("(deny network*)")
    assert "deny network" not in seatbelt_profile(replace(POLICY, network=True))
