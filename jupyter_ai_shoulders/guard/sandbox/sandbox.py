"""What a sandboxed command may reach, and what this system has to keep it there (chapter 07).

``Sandbox`` finds out once what there is and gives programs their confinement; used by
``tools.commands.run_command`` and by ``status``. Landlock does it on Linux, bubblewrap where
Landlock is missing, Seatbelt on macOS; where there is none, that is said.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Collection, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, cast

from jupyter_ai_shoulders.guard.process.launcher import Program, SpawnerPool
from jupyter_ai_shoulders.guard.process.syscall_filter import encoded_filter
from jupyter_ai_shoulders.guard.sandbox.protected_paths import (
    ProtectedPaths,
    SandboxLocations,
    find_protected_paths,
    git_settings_without_credentials,
    program_folders,
)
from jupyter_ai_shoulders.guard.sandbox.quarantine import QuarantinedFile, quarantine_new_files
from jupyter_ai_shoulders.guard.spawner import landlock
from jupyter_ai_shoulders.wire.base import JsonObject

SandboxKind = Literal["none", "landlock", "bubblewrap", "seatbelt"]

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc", "/proc"),
    *("/sys", "/nix", "/gnu", "/snap", "/run/current-system", "/var/lib/texmf"),
    *("/var/cache/fonts", "/var/cache/fontconfig"),
)
_NAMES_OF_HOSTS = ("/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager")
_SYSTEM_SECRETS = tuple(
    f"/etc/{name}"
    for name in (
        *("shadow", "shadow-", "gshadow", "gshadow-", "sudoers", "sudoers.d", "ssh", "ssl/private"),
        *("krb5.keytab", "NetworkManager", "wpa_supplicant", "docker", "kubernetes", "wireguard"),
        *("openvpn", "ipsec.secrets", "security/opasswd", "pki/tls/private", "letsencrypt"),
        *("rancher", "jupyterhub", "cni", "mysql/debian.cnf", "ppp", "samba", "polkit-1"),
    )
)
_BWRAP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class SandboxCapabilities:
    """What this system has."""

    kind: SandboxKind
    covers: bool = False
    """Whether single files and folders of a writable folder can be hidden."""
    detail: str = ""
    """For people: version, and what is missing."""
    program: str = ""
    """Where bubblewrap was found: what is called so for a command may be another program."""
    closes_ports: bool = False
    """Whether single TCP ports can be closed to a command that may use the network."""


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    """How a command is to be confined."""

    read_only: bool = False
    network: bool = False
    repositories: bool = False
    """Whether git may write in repositories' own folders; what it runs stays as it is."""


@dataclass(frozen=True, slots=True)
class SandboxExposure:
    """What a sandbox cannot keep from a command."""

    paths: tuple[str, ...]
    """What is secret, run outside of the sandbox, or told to the agent later."""
    cut: bool
    """Whether there may be more: the workspace was too large to look everywhere."""
    servers: bool = False
    """Whether it may connect to the Jupyter servers of this machine."""


NO_SANDBOX = SandboxCapabilities(
    "none", detail="This system has no sandbox that this program can use."
)

Detect = Callable[[], Awaitable[SandboxCapabilities]]


class Sandbox:
    """Confines programs, where the system can."""

    def __init__(
        self,
        places: SandboxLocations,
        detect: Detect,
        closed_ports: Callable[[], Collection[int]] = tuple,
    ) -> None:
        """``closed_ports``: TCP ports of Jupyter servers, closed to every command; it may block."""
        self._places = places
        self._detect = detect
        self._closed_ports = closed_ports
        self._facts: asyncio.Task[SandboxCapabilities] | None = None

    async def facts(self) -> SandboxCapabilities:
        """Return what there is; found out once."""
        if self._facts is None:
            self._facts = asyncio.create_task(_looked_up(self._detect), name="sandbox-facts")
        return await asyncio.shield(self._facts)

    async def aclose(self) -> None:
        """Wait until what finds out the facts has ended."""
        if self._facts is not None:
            await asyncio.gather(self._facts, return_exceptions=True)

    def exposure(self, facts: SandboxCapabilities, wanted: SandboxRequest) -> SandboxExposure:
        """Return what could not be kept from a command; blocks, for threads.

        Landlock alone cannot take anything out of a folder that may be written to.
        """
        found = find_protected_paths(self._places)
        servers = wanted.network and not facts.closes_ports
        if facts.covers or wanted.read_only:
            return SandboxExposure((), found.cut, servers)
        return SandboxExposure((*map(str, found.secret), *found.frozen), found.cut, servers)

    def protected_paths(self, wanted: SandboxRequest) -> ProtectedPaths:
        """Return what a command is kept from; blocks, for threads."""
        return find_protected_paths(self._places, writable_repositories=wanted.repositories)

    def quarantine_new_files(
        self, before: ProtectedPaths, *, repositories_only: bool = False
    ) -> list[QuarantinedFile]:
        """Rename what a command made that runs by itself; blocks, for threads."""
        return quarantine_new_files(self._places, before, repositories_only=repositories_only)

    @contextlib.contextmanager
    def confined(
        self,
        program: Program,
        facts: SandboxCapabilities,
        wanted: SandboxRequest,
        found: ProtectedPaths | None = None,
    ) -> Generator[Program]:
        """Return the program as it is to be run, with places of its own; it blocks, for threads.

        ``found`` is what ``find_protected_paths`` returned right before.
        """
        with tempfile.TemporaryDirectory(prefix="shoulders-", ignore_cleanup_errors=True) as folder:
            private = PrivateFolders.make(Path(folder).resolve())
            inside = replace(program, environment=private.environment(program, self._places))
            closed = sorted(self._closed_ports()) if wanted.network else ()
            found = found or self.protected_paths(wanted)
            policy = _policy(self._places, facts, wanted, private, found)
            policy = replace(policy, closed_ports=closed)
            match facts.kind:
                case "landlock":
                    yield replace(inside, policy=policy.to_json())
                case "bubblewrap":
                    words = bubblewrap_arguments(policy, program.folder, facts.program)
                    yield replace(inside, words=[*words, *program.words])
                case "seatbelt":
                    profile = seatbelt_profile(policy)
                    yield replace(inside, words=[_SEATBELT, "-p", profile, *program.words])
                case "none":
                    raise AssertionError("there is no sandbox to confine it in")


_SEATBELT = "/usr/bin/sandbox-exec"


@dataclass(frozen=True, slots=True)
class PrivateFolders:
    """Folders of one command: its home, its temporary files, and what covers the hidden."""

    root: Path

    @classmethod
    def make(cls, root: Path) -> PrivateFolders:
        """Make them below a new folder."""
        for name in ("home", "tmp", "state/skills", "folder"):
            (root / name).mkdir(parents=True, mode=0o700)
        (root / "file").touch(mode=0o400)
        return cls(root)

    @property
    def writable(self) -> tuple[str, ...]:
        """Where the command may write."""
        return (str(self.root / "home"), str(self.root / "tmp"))

    def cover(self, path: Path, places: SandboxLocations) -> str:
        """Return what a hidden entry is covered with."""
        if path == places.state_dir:
            return str(self.root / "state")
        plain = (
            git_settings_without_credentials(path)
            if path.parts[-2:] == (".git", "config")
            else None
        )
        if plain is not None:
            return self._holding(plain)
        return str(self.root / ("folder" if path.is_dir() else "file"))

    def _holding(self, content: bytes) -> str:
        descriptor, name = tempfile.mkstemp(dir=self.root)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
        return name

    def environment(self, program: Program, places: SandboxLocations) -> dict[str, str]:
        """Return the program's environment with its own home: the user's is out of reach."""
        return {
            "PYTHONUSERBASE": str(places.home / ".local"),
            **program.environment,
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.root / "tmp"),
            "XDG_CACHE_HOME": str(self.root / "home/.cache"),
            "XDG_CONFIG_HOME": str(self.root / "home/.config"),
            "GIT_CONFIG_COUNT": "1",  # root may look at what belongs to the user
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": str(places.workspace),
        }


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """What may be reached, in the terms of every kind of sandbox."""

    read: Sequence[str]
    write: Sequence[str]
    hidden: Mapping[str, str]
    kept: Sequence[str]
    network: bool
    cover: bool
    frozen: Sequence[str] = ()
    """Below what may be written, and only to be read: what runs outside of the sandbox."""
    held: Sequence[str] = ()
    """Folders that may be written to and not moved away."""
    closed_ports: Sequence[int] = ()
    """TCP ports that are out of reach although the network is not."""

    def to_json(self) -> JsonObject:
        """Return it as ``guard.spawner`` takes it."""
        return {
            "read": list(self.read),
            "write": list(self.write),
            "hidden": dict(self.hidden),
            "kept": list(self.kept),
            "network": self.network,
            "cover": self.cover,
            "frozen": list(self.frozen),
            "held": list(self.held),
            "closed_ports": list(self.closed_ports),
            "syscall_filter": encoded_filter(network=self.network, namespaces=self.cover),
        }


def _policy(
    places: SandboxLocations,
    facts: SandboxCapabilities,
    wanted: SandboxRequest,
    private: PrivateFolders,
    found: ProtectedPaths,
) -> SandboxPolicy:
    workspace = str(places.workspace)
    secrets = [*found.secret, *map(Path, _SYSTEM_SECRETS)]
    hosts = _NAMES_OF_HOSTS if wanted.network else ()
    return SandboxPolicy(
        read=[
            *_SYSTEM,
            *hosts,
            *program_folders(places),
            *([workspace] if wanted.read_only else []),
        ],
        write=[*([] if wanted.read_only else [workspace]), *private.writable],
        hidden={str(path): private.cover(path, places) for path in secrets if path.exists()},
        kept=[str(places.state_dir / "skills")],
        network=wanted.network,
        cover=facts.covers,
        frozen=() if wanted.read_only else found.frozen,
        held=() if wanted.read_only else found.held,
    )


# detection


async def detect_capabilities(spawners: SpawnerPool) -> SandboxCapabilities:
    """Find out what this system has, by trying it."""
    if sys.platform != "linux":
        return _seatbelt()
    found = await spawners.probe()
    version = cast("int", found.get("landlock", 0))
    if found.get("works"):
        return _landlock(version, covers=bool(found.get("covers")))
    bubblewrap = await asyncio.to_thread(_bubblewrap)
    if bubblewrap is not None:
        return SandboxCapabilities(
            "bubblewrap", covers=True, detail="bubblewrap", program=bubblewrap
        )
    older = 0 < version < landlock.OLDEST_ABI
    why = f" Landlock here has version {version}; 3 (Linux 6.2) is needed." if older else ""
    return replace(NO_SANDBOX, detail=f"{NO_SANDBOX.detail}{why}")


def _landlock(version: int, *, covers: bool) -> SandboxCapabilities:
    missing = ""
    if not covers:
        missing += (
            "; secret files of the workspace cannot be hidden; commands cannot change permissions,"
            " owners or times of files, so git init, compilers and installers fail"
        )
    if version < landlock.SCOPE_ABI:
        missing += "; commands can send signals to your other processes"
    detail = f"Landlock ABI {version}{missing}"
    return SandboxCapabilities(
        "landlock", covers, detail, closes_ports=version >= landlock.NETWORK_ABI
    )


def _seatbelt() -> SandboxCapabilities:
    usable = sys.platform == "darwin" and Path(_SEATBELT).exists()
    found = SandboxCapabilities("seatbelt", covers=True, detail="Seatbelt", closes_ports=True)
    return found if usable else NO_SANDBOX


async def _looked_up(detect: Detect) -> SandboxCapabilities:
    return await detect()


def _bubblewrap() -> str | None:
    """Return where bubblewrap is, if it works."""
    found = shutil.which("bwrap")
    if found is None:
        return None
    program = str(Path(found).absolute())
    try:
        done = subprocess.run(  # noqa: S603 a fixed program with our own arguments
            [program, "--unshare-all", "--ro-bind", "/", "/", "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_BWRAP_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return program if done.returncode == 0 else None


# other kinds


def bubblewrap_arguments(policy: SandboxPolicy, folder: Path, program: str) -> list[str]:
    """Return the words before a command's own (bwrap(1)); nothing is there but what is named."""
    words = [program, "--unshare-all", "--die-with-parent", "--new-session", "--dev", "/dev"]
    words += ["--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108 it is one of its own
    words += ["--share-net"] if policy.network else []
    for path in policy.read:
        if path not in {"/proc", "/sys"} and not path.startswith("/dev/"):
            words += ["--ro-bind-try", path, path]
    for path in policy.write:
        words += ["--bind-try", path, path]
    for path in policy.held:
        words += ["--bind-try", path, path]
    for path in policy.frozen:
        words += ["--ro-bind-try", path, path]
    for path, cover in policy.hidden.items():
        words += ["--ro-bind", cover, path]
    for path in policy.kept:
        words += ["--ro-bind-try", path, path]
    return [*words, "--chdir", str(folder), "--"]


def seatbelt_profile(policy: SandboxPolicy) -> str:
    """Return a profile for ``sandbox-exec``: later rules win (sandbox(7))."""
    lines = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        '(deny file-read* (subpath "/Users"))',
        '(deny file-read* (subpath "/Volumes"))',
    ]
    lines += [f"(allow file-read* (subpath {_quoted(path)}))" for path in policy.read]
    for path in policy.write:
        lines.append(f"(allow file-read* file-write* (subpath {_quoted(path)}))")
    lines.append('(allow file-write* (literal "/dev/null") (literal "/dev/zero"))')
    lines += [f"(deny file-write* (literal {_quoted(path)}))" for path in policy.held]
    lines += [f"(deny file-write* (subpath {_quoted(path)}))" for path in policy.frozen]
    for path in policy.hidden:
        lines.append(f"(deny file-read* file-write* (subpath {_quoted(path)}))")
    lines += [f"(allow file-read* (subpath {_quoted(path)}))" for path in policy.kept]
    if not policy.network:
        lines.append("(deny network*)")
    for port in policy.closed_ports:
        lines.append(f'(deny network-outbound (remote tcp "*:{port}"))')
    return "\n".join(lines)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
