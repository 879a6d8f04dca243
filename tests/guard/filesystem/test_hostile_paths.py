"""Hostile paths never lead out, with any operation, on every kind of system."""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, ShouldersError
from jupyter_ai_shoulders.core.sensitive_files.secret_files import is_secret
from jupyter_ai_shoulders.guard.filesystem.safe_open import (
    DescriptorRoot,
    PathRoot,
    Root,
    choose_opener,
    open_without_links,
)
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from tests.support.case_selection import sample

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes links, pipes and sockets")

SECRET = b"a secret of somebody else"


def with_openat2(root: Path) -> Root:
    return DescriptorRoot(root, choose_opener())


def with_walk(root: Path) -> Root:
    return DescriptorRoot(root, open_without_links)


@pytest.fixture(params=[with_openat2, with_walk, PathRoot], ids=["openat2", "walk", "path"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace with links that lead out in every position, and their targets."""
    root = tmp_path / "root"
    (root / "sub" / "deep").mkdir(parents=True)
    (root / "sub" / "a.txt").write_bytes(b"a")
    for place in ("outside", "root-sibling", "rootsibling"):
        (tmp_path / place / "sub").mkdir(parents=True)
        (tmp_path / place / "secret.txt").write_bytes(SECRET)
        (tmp_path / place / "sub" / "secret.txt").write_bytes(SECRET)
    make_links(root, tmp_path)
    make: Callable[[Path], Root] = request.param
    found = Workspace(root, make(root))
    yield found
    found.close()


@pytest.fixture
def linux(workspace: Workspace) -> Iterator[Workspace]:
    """The workspace with the root type of this system."""
    found = Workspace(workspace.directory)
    yield found
    found.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Skip disk syncs, because no power failure is tested."""

    def at_once(descriptor: int) -> None:
        del descriptor

    monkeypatch.setattr(os, "fsync", at_once)


def make_links(root: Path, above: Path) -> None:
    links = {
        "link": "../outside/secret.txt",
        "absolute": str(above / "outside" / "secret.txt"),
        "folder": "../outside",
        "up": "..",
        "top": "/",
        "chain": "folder",
        "chained": "chain/sub/../secret.txt",
        "loop": "loop",
        "dangling": "../outside/new.txt",
        "sibling": "../root-sibling/secret.txt",
        "sub/link": "../../outside/secret.txt",
        "sub/deep/folder": "../../../outside/sub",
        "sub/round": "../folder/sub",
        "proc": "/proc/self/cwd",
        "fd": "/proc/self/fd",
        "self": f"/proc/{os.getpid()}/root",
        "zero": "/dev/zero",
        "tty": "/dev/tty",
    }
    for name, target in links.items():
        (root / name).symlink_to(target)
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(root)  # names of sockets must be short
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)


DOTS = [
    *("..", "%2e%2e", "%2E%2E", "%252e%252e", "%c0%ae%c0%ae", "．．", "‥", "。。", "․․", "..;"),
    *("...", "....", ".. ", " ..", "..\u200b", ".\u200d.", "\u202e..", "..\t", "..\n", "\ufeff.."),
    *("..%00", "..\0", "..%20", "^..", '".."', "{..}", "$(..)", "`..`", "..\\", "..\\..", ".\\.."),
]
SLASHES = ["/", "//", "\\", "%2f", "%5c", "%255c", "%c0%af", "∕", "⁄", "／", "＼", "/./", "\\/"]
PLAIN = [
    *("../outside/secret.txt", "./../outside/secret.txt", "sub/../../outside/secret.txt"),
    *("sub/deep/../../../outside/secret.txt", "/../outside/secret.txt", "a/../../outside/x"),
    *("../root-sibling/secret.txt", "../rootsibling/secret.txt", "../ROOT-SIBLING/secret.txt"),
    *("{above}/outside/secret.txt", "{root}/../outside/secret.txt", "{root}-sibling/secret.txt"),
    *("{root}sibling/secret.txt", "{above}/root/../outside/secret.txt", "{root}/folder/secret.txt"),
    *("/proc/self/root{above}/outside/secret.txt", "/proc/self/cwd/x", "/dev/fd/0", "/dev/stdin"),
    *("/dev/zero", "/etc/passwd", "/etc/../etc/passwd", "//etc/passwd", "///etc/passwd"),
    *("file:///etc/passwd", "file://localhost/etc/passwd", "//server/share/x", "\\\\server\\x"),
    *("\\\\?\\C:\\x", "\\\\.\\pipe\\x", "//?/C:/x", "//./x", "C:\\x", "C:/x", "C:x", "c:../x"),
    *("~", "~/x", "~root/x", "$HOME/x", "${HOME}/x", "%USERPROFILE%/x", "$(cat x)/../../x"),
    *("link", "absolute", "folder/secret.txt", "folder/sub/secret.txt", "chain/secret.txt"),
    *("chained", "up/outside/secret.txt", "top/etc/passwd", "sibling", "sub/link", "dangling"),
    *("sub/deep/folder/secret.txt", "sub/round/secret.txt", "folder/../outside/secret.txt"),
    *("folder/new.txt", "folder/sub/../secret.txt", "loop", "loop/x", "proc/x", "fd/0", "fd/1/x"),
    *("self/etc/passwd", "zero", "tty", "pipe", "socket", "pipe/x", "link/", "link/.", "link/.."),
    *("OUTSID~1/secret.txt", "../OUTSID~1/SECRET~1.TXT", "link::$DATA", "link:stream", "LINK"),
    *("CON", "NUL", "aux.txt", "COM1", "sub/a.txt/../../../outside/secret.txt", "sub/a.txt/x"),
    *("folder./secret.txt", "folder /secret.txt", "link.", "link ", "x" * 256, "x" * 5_000),
    *("/".join(["a"] * 5_000), "../" * 2_000 + "etc/passwd", "sub/" * 1_500 + "x", "", ".", "/"),
    *("\0", "a\0../../outside/secret.txt", "link\0.txt", "\ud800", "sub/\udcff/../../../outside"),
]
TABLE = [
    *PLAIN,
    *(f"{dots}{slash}outside{slash}secret.txt" for dots in DOTS for slash in SLASHES),
    *(f"sub{slash}{dots}{slash}{dots}{slash}outside" for dots in DOTS for slash in SLASHES),
]


def spelled(raw: str, workspace: Workspace) -> str:
    """Return a text of the table with the paths of this test."""
    root = str(workspace.directory)
    return raw.replace("{above}", str(workspace.directory.parent)).replace("{root}", root)


def snapshot(above: Path) -> dict[str, object]:
    """Return everything outside the workspace."""
    found: dict[str, object] = {}
    for place in ("outside", "root-sibling", "rootsibling"):
        for path in sorted((above / place).rglob("*")):
            facts = path.lstat()
            content = path.read_bytes() if stat.S_ISREG(facts.st_mode) else None
            found[str(path)] = (content, facts.st_ino, facts.st_mode, facts.st_nlink)
    return found


def operations(workspace: Workspace, text: str) -> Iterator[Callable[[], object]]:
    """Yield every operation on a path, as given and as resolved."""
    for make in (workspace.path, WorkspacePath):
        with contextlib.suppress(ShouldersError):
            yield from operations_on(workspace, make(text))


def operations_on(workspace: Workspace, path: WorkspacePath) -> Iterator[Callable[[], object]]:
    mine = WorkspacePath("sub/a.txt")
    facts = workspace.stat(mine)
    yield lambda: workspace.read(path).content
    yield lambda: workspace.head(path, 100).content
    yield lambda: workspace.tail(path, 100).content
    yield lambda: workspace.stat(path)
    yield lambda: workspace.kind(path)
    yield lambda: workspace.names(path)
    yield lambda: workspace.digest(path)
    yield lambda: workspace.create(path, b"made")
    yield lambda: workspace.replace(path, b"put", facts)
    yield lambda: workspace.remove(path, facts)
    yield lambda: workspace.copy(mine, path)
    yield lambda: workspace.copy(path, WorkspacePath("copied"))
    yield lambda: workspace.make_folder(path)
    yield lambda: workspace.remove_folder(path)


def tried(operation: Callable[[], object]) -> object:
    try:
        return operation()
    except ShouldersError as error:
        return error
    except ValueError as error:  # NUL or a lone surrogate, which ``path`` never returns
        return error


@pytest.mark.usefixtures("quick")
def test_hostile_path_leads_nowhere(workspace: Workspace, request: pytest.FixtureRequest):
    """One table, every operation: nothing outside is read, named, created, changed or removed."""
    above = workspace.directory.parent
    before = snapshot(above)
    done = 0
    table = TABLE if request.node.callspec.id == "openat2" else sample(TABLE, 3)
    for raw in table:
        text = spelled(raw, workspace)
        for operation in operations(workspace, text):
            told = tried(operation)
            assert told != SECRET, text
            if isinstance(told, (list, tuple)):
                assert "secret.txt" not in told, text
            done += 1
        with contextlib.suppress(FileNotFoundError):
            assert (workspace.directory / "copied").read_bytes() != SECRET, text
            (workspace.directory / "copied").unlink()
    assert snapshot(above) == before
    assert not [item for item in above.iterdir() if item.name not in PLACES]
    assert len(TABLE) > 900
    assert done > 10 * len(table)


PLACES = {"root", "outside", "root-sibling", "rootsibling"}


@pytest.mark.parametrize(
    "text",
    [
        *("../outside/secret.txt", "{above}/outside/secret.txt", "{root}-sibling/secret.txt"),
        *("link", "absolute", "folder/secret.txt", "up/outside/secret.txt", "sub/link", "chained"),
        *("/proc/self/root/etc/passwd", "proc/x", "top/etc/passwd", "\\\\server\\share", "C:\\x"),
    ],
)
def test_way_out_is_named_as_one(linux: Workspace, text: str):
    with pytest.raises(InvalidRequest) as raised:
        linux.read(linux.path(spelled(text, linux)))
    assert raised.value.info.code == "outside_workspace"


@pytest.mark.parametrize("name", ["pipe", "socket", "zero", "tty"])
def test_what_is_no_file_is_refused_at_once(workspace: Workspace, name: str):
    with pytest.raises(InvalidRequest):
        workspace.read(workspace.path(name))
    with pytest.raises(InvalidRequest):
        workspace.read(WorkspacePath(name))


def test_hard_link_is_counted(workspace: Workspace):
    root = workspace.directory
    os.link(root.parent / "outside" / "secret.txt", root / "hard.txt")
    path = workspace.path("hard.txt")
    facts = workspace.stat(path)
    assert facts.links == 2
    workspace.replace(path, b"mine now", facts)
    assert (root.parent / "outside" / "secret.txt").read_bytes() == SECRET
    assert workspace.read(path).content == b"mine now"


@pytest.mark.parametrize(
    "path",
    [
        *(".env", ".ENV", "a/.Env.local", ".env.", ".env ", ".env::$DATA", "x/.SSH/config"),
        *(".ſsh/config", ".\u200cssh/id", ".s\u200dsh/id", "\ufeff.env", ".en\u202ev", ".ＥＮＶ"),
        *(".aws./credentials", "ID_RSA", "Id_Ed25519", "x.PEM", "server.KEY", ".Netrc", ".NPMRC"),
        *(".PyPirc", ".shoulders/tools.json", ".Shoulders/state.db", "a/.gnupg/x", "kernel-1.JSON"),
        *("jupyter_cookie_secret", ".git-credentials", "\u212aaggle.json", ".\u212aube/config"),
    ],
)
def test_secret_is_one_however_it_is_spelled(path: str):
    assert is_secret(path)


@pytest.mark.parametrize(
    "path",
    ["env.py", ".env.example", "keys.md", "id_rsa.pub", "a.environment", "sshd.conf", "e n v"],
)
def test_plain_file_is_no_secret(path: str):
    assert not is_secret(path)
