"""What a sandboxed command may reach, and what this system has to keep it there (chapter 07).

``Sandbox`` finds out once what there is and gives programs their confinement; used by
``tools.run_command`` and by ``status``. Landlock does it on Linux, bubblewrap where Landlock is
missing, Seatbelt on macOS; where there is none, that is said.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from jupyter_ai_shoulders.core.secret_files import is_secret
from jupyter_ai_shoulders.guard.process import Program, Spawners
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
_HOME_SECRETS = (
    *(".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".shoulders", ".password-store"),
    *(".netrc", "_netrc", ".git-credentials", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".boto"),
    *(".jupyter", ".local/share/jupyter/runtime", ".local/share/keyrings", ".config/gcloud"),
    *(".config/gh", ".config/glab-cli", ".config/rclone", ".config/github-copilot", ".config/hub"),
    *(".config/google-chrome", ".config/chromium", ".mozilla", ".config/op", ".config/sops"),
    *(".cache/huggingface/token", ".cache/huggingface/stored_tokens", ".huggingface", ".kaggle"),
    *(".config/kaggle", ".databrickscfg", ".snowflake", ".snowsql", ".dbt", ".terraform.d"),
    *(".bash_history", ".zsh_history", ".python_history", ".sqlite_history", ".psql_history"),
    *(".local/share/fish/fish_history", ".ipython/profile_default/history.sqlite", ".vault-token"),
    *(".config/anthropic", ".claude", ".claude.json", ".codex", ".config/openai", ".wandb"),
    *("Library/Keychains", "Library/Cookies", "Library/Application Support/Google"),
)
_LEFT_OUT = frozenset({"node_modules", ".git", ".venv", "venv", "__pycache__", "site-packages"})
_DEPTH = 4
_MOST_ENTRIES = 20_000
_LOOK_SECONDS = 0.5
"""Secret files are looked for this far; deeper ones are not known."""
_BWRAP_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Facts:
    """What this system has."""

    kind: SandboxKind
    covers: bool = False
    """Whether single files and folders of a writable folder can be hidden."""
    detail: str = ""
    """For people: version, and what is missing."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where things are, as the operating system names them."""

    workspace: Path
    state_dir: Path
    home: Path
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Wanted:
    """How a command is to be confined."""

    read_only: bool = False
    network: bool = False


NO_SANDBOX = Facts("none", detail="This system has no sandbox that this program can use.")

Detect = Callable[[], Awaitable[Facts]]


class Sandbox:
    """Confines programs, where the system can."""

    def __init__(self, places: Places, detect: Detect) -> None:
        self._places = places
        self._detect = detect
        self._facts: asyncio.Task[Facts] | None = None

    async def facts(self) -> Facts:
        """Return what there is; found out once."""
        if self._facts is None:
            self._facts = asyncio.create_task(_looked_up(self._detect), name="sandbox-facts")
        return await asyncio.shield(self._facts)

    def exposed(self, facts: Facts, wanted: Wanted) -> tuple[str, ...]:
        """Return what is secret, or run by the server, and could not be kept; blocks, for threads.

        Landlock alone cannot take anything out of a folder that may be written to.
        """
        if facts.covers or wanted.read_only:
            return ()
        return (*map(str, secret_places(self._places)), *own_programs(self._places))

    @contextlib.contextmanager
    def confined(self, program: Program, facts: Facts, wanted: Wanted) -> Generator[Program]:
        """Return the program as it is to be run, with places of its own; it blocks, for threads."""
        with tempfile.TemporaryDirectory(prefix="shoulders-", ignore_cleanup_errors=True) as folder:
            private = Private.make(Path(folder).resolve())
            inside = replace(program, environment=private.environment(program, self._places))
            policy = _policy(self._places, facts, wanted, private)
            match facts.kind:
                case "landlock":
                    yield replace(inside, policy=policy.to_json())
                case "bubblewrap":
                    words = bubblewrap_words(policy, program.folder)
                    yield replace(inside, words=[*words, *program.words])
                case "seatbelt":
                    profile = seatbelt_profile(policy)
                    yield replace(inside, words=[_SEATBELT, "-p", profile, *program.words])
                case "none":
                    raise AssertionError("there is no sandbox to confine it in")


_SEATBELT = "/usr/bin/sandbox-exec"


@dataclass(frozen=True, slots=True)
class Private:
    """Folders of one command: its home, its temporary files, and what covers the hidden."""

    root: Path

    @classmethod
    def make(cls, root: Path) -> Private:
        """Make them below a new folder."""
        for name in ("home", "tmp", "state/skills", "folder"):
            (root / name).mkdir(parents=True, mode=0o700)
        (root / "file").touch(mode=0o400)
        return cls(root)

    @property
    def writable(self) -> tuple[str, ...]:
        """Where the command may write."""
        return (str(self.root / "home"), str(self.root / "tmp"))

    def cover(self, path: Path, places: Places) -> str:
        """Return what a hidden entry is covered with."""
        if path == places.state_dir:
            return str(self.root / "state")
        return str(self.root / ("folder" if path.is_dir() else "file"))

    def environment(self, program: Program, places: Places) -> dict[str, str]:
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
class Policy:
    """What may be reached, in the terms of every kind of sandbox."""

    read: Sequence[str]
    write: Sequence[str]
    hidden: Mapping[str, str]
    kept: Sequence[str]
    network: bool
    cover: bool
    frozen: Sequence[str] = ()
    """Below what may be written, and only to be read: programs that run outside of the sandbox."""

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
        }


def _policy(places: Places, facts: Facts, wanted: Wanted, private: Private) -> Policy:
    workspace = str(places.workspace)
    secrets = [*secret_places(places), *map(Path, _SYSTEM_SECRETS)]
    hosts = _NAMES_OF_HOSTS if wanted.network else ()
    return Policy(
        read=[
            *_SYSTEM,
            *hosts,
            *program_places(places),
            *([workspace] if wanted.read_only else []),
        ],
        write=[*([] if wanted.read_only else [workspace]), *private.writable],
        hidden={str(path): private.cover(path, places) for path in secrets if path.exists()},
        kept=[str(places.state_dir / "skills")],
        network=wanted.network,
        cover=facts.covers,
        frozen=() if wanted.read_only else own_programs(places),
    )


def own_programs(places: Places) -> list[str]:
    """Return folders of the workspace with programs of the server, such as its environment.

    What a command wrote there would run with all rights: as git, or as a library of a kernel.
    """
    places_of_all = filter(os.path.isdir, program_places(places))
    found = [path for path in map(Path, places_of_all) if _is_below(path, places.workspace)]
    return [str(path) for path in found if not any(_is_below(path, other) for other in found)]


def secret_places(places: Places) -> list[Path]:
    """Return what is secret in the workspace or in a home that it holds, as far as one can look."""
    found = [places.state_dir] if _is_below(places.state_dir, places.workspace) else []
    for name in _HOME_SECRETS:
        path = places.home / name
        if _is_below(path, places.workspace) and os.path.lexists(path):
            found.append(path)
    found += (path for path in _secret_files(places.workspace) if path not in found)
    return [path for path in found if not any(_is_below(path, other) for other in found)]


def _secret_files(root: Path) -> Iterator[Path]:
    """Look for names of secrets, near the root first, within bounds of time and number."""
    deadline = time.monotonic() + _LOOK_SECONDS
    waiting = [(root, 0)]
    count = 0
    while waiting and count < _MOST_ENTRIES and time.monotonic() < deadline:
        folder, depth = waiting.pop(0)
        for entry in _entries(folder):
            count += 1
            is_folder = entry.is_dir(follow_symlinks=False)
            path = Path(entry.path)
            relative = path.relative_to(root).as_posix()
            if not entry.is_symlink() and is_secret(f"{relative}/x" if is_folder else relative):
                yield path
            elif is_folder and depth < _DEPTH and entry.name not in _LEFT_OUT:
                waiting.append((path, depth + 1))


def _entries(folder: Path) -> Sequence[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return ()


def program_places(places: Places) -> list[str]:
    """Return where programs and libraries lie outside of the system's folders."""
    prefixes = [sys.prefix, sys.base_prefix, sys.exec_prefix, sys.base_exec_prefix]
    prefixes += [places.environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX")]
    paths = [Path(entry) for entry in places.environ.get("PATH", "").split(os.pathsep) if entry]
    local = [places.home / ".local" / name for name in ("lib", "share/jupyter/kernels")]
    found = [*map(Path, filter(None, prefixes)), *paths, *map(_installation, paths), *local]
    real = (Path(os.path.realpath(path)) for path in found if path.is_absolute())
    return list(dict.fromkeys(str(path) for path in real if _is_narrow(path, places)))


def _installation(programs: Path) -> Path:
    """Return the folder with the libraries of a folder of programs, or that folder itself."""
    above = programs.parent
    marks = ("lib", "pyvenv.cfg", "conda-meta")
    is_one = programs.name in {"bin", "condabin"} and above.name != ".local"
    return above if is_one and any((above / mark).exists() for mark in marks) else programs


def _is_narrow(path: Path, places: Places) -> bool:
    """Return whether a folder of programs neither is nor holds what must not be opened by it."""
    sensitive = (places.home, places.state_dir, places.workspace)
    return not any(one.is_relative_to(path) for one in sensitive)


def _is_below(path: Path, folder: Path) -> bool:
    return path != folder and path.is_relative_to(folder)


# detection


async def detect(spawners: Spawners) -> Facts:
    """Find out what this system has, by trying it."""
    if sys.platform != "linux":
        return _seatbelt()
    found = await spawners.probe()
    version = found.get("landlock", 0)
    if found.get("works"):
        covers = bool(found.get("covers"))
        missing = "" if covers else "; secret files of the workspace cannot be hidden"
        return Facts("landlock", covers, f"Landlock ABI {version}{missing}")
    if await asyncio.to_thread(_bubblewrap_works):
        return Facts("bubblewrap", covers=True, detail="bubblewrap")
    older = f" Landlock here has version {version}; 3 (Linux 6.2) is needed." if version else ""
    return replace(NO_SANDBOX, detail=f"{NO_SANDBOX.detail}{older}")


def _seatbelt() -> Facts:
    usable = sys.platform == "darwin" and Path(_SEATBELT).exists()
    return Facts("seatbelt", covers=True, detail="Seatbelt") if usable else NO_SANDBOX


async def _looked_up(detect: Detect) -> Facts:
    return await detect()


def _bubblewrap_works() -> bool:
    program = shutil.which("bwrap")
    if program is None:
        return False
    try:
        done = subprocess.run(  # noqa: S603 a fixed program with our own arguments
            [program, "--unshare-all", "--ro-bind", "/", "/", "true"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_BWRAP_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


# other kinds


def bubblewrap_words(policy: Policy, folder: Path) -> list[str]:
    """Return the words before a command's own (bwrap(1)); nothing is there but what is named."""
    words = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--dev", "/dev"]
    words += ["--proc", "/proc", "--tmpfs", "/tmp"]  # noqa: S108 it is one of its own
    words += ["--share-net"] if policy.network else []
    for path in policy.read:
        if path not in {"/proc", "/sys"} and not path.startswith("/dev/"):
            words += ["--ro-bind-try", path, path]
    for path in policy.write:
        words += ["--bind-try", path, path]
    for path in policy.frozen:
        words += ["--ro-bind-try", path, path]
    for path, cover in policy.hidden.items():
        words += ["--ro-bind", cover, path]
    for path in policy.kept:
        words += ["--ro-bind-try", path, path]
    return [*words, "--chdir", str(folder), "--"]


def seatbelt_profile(policy: Policy) -> str:
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
    lines += [f"(deny file-write* (subpath {_quoted(path)}))" for path in policy.frozen]
    for path in policy.hidden:
        lines.append(f"(deny file-read* file-write* (subpath {_quoted(path)}))")
    lines += [f"(allow file-read* (subpath {_quoted(path)}))" for path in policy.kept]
    if not policy.network:
        lines.append("(deny network*)")
    return "\n".join(lines)


def _quoted(path: str) -> str:
    return '"' + path.replace("\\", "\\\\").replace('"', '\\"') + '"'
