"""The files and the network one sandboxed command may reach.

Made by ``guard.sandbox.sandbox``; rendered for Landlock here, for other sandboxes by
``guard.sandbox.wrapper_commands``.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_ai_shoulders.guard.process.program import Program
from jupyter_ai_shoulders.guard.process.syscall_filter import encoded_filter
from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities
from jupyter_ai_shoulders.guard.sandbox.protected_paths import (
    ProtectedPaths,
    SandboxLocations,
    git_settings_without_credentials,
    program_folders,
)
from jupyter_ai_shoulders.wire.base import JsonObject

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


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    """How a command is to be confined."""

    read_only: bool = False
    network: bool = False
    repositories: bool = False
    """Whether git may write in git directories, except for the files it runs."""


@dataclass(frozen=True, slots=True)
class PrivateFolders:
    """Folders of one command: its home, its temporary files, and covers for hidden paths."""

    root: Path

    @classmethod
    def create(cls, root: Path) -> PrivateFolders:
        """Make them below a new folder."""
        for name in ("home", "tmp", "state/skills", "folder"):
            (root / name).mkdir(parents=True, mode=0o700)
        (root / "file").touch(mode=0o400)
        return cls(root)

    @property
    def writable(self) -> tuple[str, ...]:
        """Folders the command may write to."""
        return (str(self.root / "home"), str(self.root / "tmp"))

    def cover(self, path: Path, locations: SandboxLocations) -> str:
        """Return the path mounted over a hidden entry."""
        if path == locations.state_dir:
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

    def environment(self, program: Program, locations: SandboxLocations) -> dict[str, str]:
        """Return the program's environment with a private home instead of the user's."""
        return {
            "PYTHONUSERBASE": str(locations.home / ".local"),
            **program.environment,
            "HOME": str(self.root / "home"),
            "TMPDIR": str(self.root / "tmp"),
            "XDG_CACHE_HOME": str(self.root / "home/.cache"),
            "XDG_CONFIG_HOME": str(self.root / "home/.config"),
            "GIT_CONFIG_COUNT": "1",  # root may read files that belong to the user
            "GIT_CONFIG_KEY_0": "safe.directory",
            "GIT_CONFIG_VALUE_0": str(locations.workspace),
        }


@dataclass(frozen=True, slots=True)
class SandboxPolicy:
    """The files and network a command may reach, independent of the kind of sandbox."""

    read: Sequence[str]
    write: Sequence[str]
    hidden: Mapping[str, str]
    readable_exceptions: Sequence[str]
    network: bool
    cover: bool
    frozen: Sequence[str] = ()
    """Read-only paths below writable ones: files that run outside the sandbox."""
    unmovable: Sequence[str] = ()
    """Writable folders that must not be moved."""
    closed_ports: Sequence[int] = ()
    """TCP ports that are closed although the network is open."""

    def to_json(self) -> JsonObject:
        """Return the policy in the form ``guard.spawner`` takes."""
        return {
            "read": list(self.read),
            "write": list(self.write),
            "hidden": dict(self.hidden),
            "kept": list(self.readable_exceptions),
            "network": self.network,
            "cover": self.cover,
            "frozen": list(self.frozen),
            "held": list(self.unmovable),
            "closed_ports": list(self.closed_ports),
            "syscall_filter": encoded_filter(network=self.network, namespaces=self.cover),
        }


def build_policy(
    locations: SandboxLocations,
    capabilities: SandboxCapabilities,
    request: SandboxRequest,
    private: PrivateFolders,
    protected: ProtectedPaths,
) -> SandboxPolicy:
    workspace = str(locations.workspace)
    secrets = [*protected.secret, *map(Path, _SYSTEM_SECRETS)]
    hosts = _NAMES_OF_HOSTS if request.network else ()
    return SandboxPolicy(
        read=[
            *_SYSTEM,
            *hosts,
            *program_folders(locations),
            *([workspace] if request.read_only else []),
        ],
        write=[*([] if request.read_only else [workspace]), *private.writable],
        hidden={str(path): private.cover(path, locations) for path in secrets if path.exists()},
        readable_exceptions=[str(locations.state_dir / "skills")],
        network=request.network,
        cover=capabilities.covers,
        frozen=() if request.read_only else protected.frozen,
        unmovable=() if request.read_only else protected.unmovable,
    )
