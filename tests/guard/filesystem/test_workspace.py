import errno
import os
import socket
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import (
    Conflict,
    InvalidRequest,
    NotFound,
    PolicyRefusal,
    ShouldersError,
    StateUnavailable,
)
from jupyter_ai_shoulders.guard.filesystem.safe_open import (
    DescriptorRoot,
    PathRoot,
    Root,
    choose_opener,
    open_without_links,
)
from jupyter_ai_shoulders.guard.filesystem.workspace import FileChanged, Workspace, WorkspacePath


def with_openat2(root: Path) -> Root:
    return DescriptorRoot(root, choose_opener())


def with_walk(root: Path) -> Root:
    return DescriptorRoot(root, open_without_links)


ROOTS = [
    pytest.param(with_openat2, id="openat2"),
    pytest.param(with_walk, id="walk"),
    pytest.param(PathRoot, id="path"),
]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    directory = tmp_path / "outside"
    directory.mkdir()
    (directory / "secret.txt").write_text("secret")
    return directory


@pytest.fixture
def root(tmp_path: Path) -> Path:
    directory = tmp_path / "root"
    (directory / "sub").mkdir(parents=True)
    (directory / "a.ipynb").write_text("a")
    (directory / "sub" / "b.ipynb").write_text("b")
    return directory


@pytest.fixture(params=ROOTS)
def workspace(request: pytest.FixtureRequest, root: Path) -> Iterator[Workspace]:
    make: Callable[[Path], Root] = request.param
    workspace = Workspace(root, make(root))
    yield workspace
    workspace.close()


@pytest.fixture
def linux(root: Path) -> Iterator[Workspace]:
    workspace = Workspace(root)
    yield workspace
    workspace.close()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a.ipynb", "a.ipynb"),
        ("./a.ipynb", "a.ipynb"),
        ("sub//b.ipynb", "sub/b.ipynb"),
        ("sub/../a.ipynb", "a.ipynb"),
        ("sub/./b.ipynb", "sub/b.ipynb"),
        ("missing/new.ipynb", "missing/new.ipynb"),
        ("a$b.ipynb", "a$b.ipynb"),
        ("", ""),
        (".", ""),
        ("...", "..."),
        ("..a/b", "..a/b"),
    ],
)
def test_path_gives_one_name_to_a_file(workspace: Workspace, text: str, expected: str) -> None:
    assert workspace.path(text) == expected


def test_path_accepts_an_absolute_path_below_the_root(workspace: Workspace, root: Path) -> None:
    assert workspace.path(str(root / "sub" / "b.ipynb")) == "sub/b.ipynb"
    assert workspace.path(str(root)) == ""


def test_path_accepts_an_absolute_path_that_leads_to_the_root_by_a_link(
    workspace: Workspace, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert workspace.path(str(tmp_path / "alias" / "a.ipynb")) == "a.ipynb"
    assert workspace.path(str(tmp_path / "alias" / "sub" / "b.ipynb")) == "sub/b.ipynb"


@pytest.mark.parametrize(
    "text",
    [
        "..",
        "../outside/secret.txt",
        "sub/../../outside/secret.txt",
        "/etc/passwd",
        "//server/share",
        "\\\\server\\share",
        "C:\\x",
    ],
)
def test_path_outside_the_workspace_is_refused(workspace: Workspace, text: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        workspace.path(text)
    assert raised.value.info.code == "outside_workspace"


def test_path_of_a_sibling_with_the_same_prefix_is_outside(
    workspace: Workspace, root: Path
) -> None:
    sibling = root.with_name("root-other")
    sibling.mkdir()
    with pytest.raises(InvalidRequest) as raised:
        workspace.path(str(sibling / "x"))
    assert raised.value.info.code == "outside_workspace"


@pytest.mark.parametrize(
    "text", ["~/x", "~user/x", "$HOME/x", "${HOME}x", "%TEMP%x", "a\0b", "\ud800"]
)
def test_path_that_is_no_plain_name_is_refused(workspace: Workspace, text: str) -> None:
    with pytest.raises(InvalidRequest):
        workspace.path(text)


@pytest.mark.parametrize("text", ["$USER", "%s", "$data/x.csv", "~lock", "a${b}.txt", "$HOMER/x"])
def test_name_that_only_begins_like_a_variable_is_one(workspace: Workspace, text: str) -> None:
    assert workspace.path(text) == text


@pytest.mark.parametrize("text", ["/proc/1/root/etc/passwd", "/proc/self/fd/0/x"])
def test_path_that_cannot_be_resolved_is_outside(workspace: Workspace, text: str) -> None:
    with pytest.raises(InvalidRequest) as raised:
        workspace.path(text)
    assert raised.value.info.code == "outside_workspace"


def test_closed_folder_is_refused_however_it_is_named(root: Path) -> None:
    (root / "runtime").mkdir()
    (root / "runtime" / "token").touch()
    (root / "link").symlink_to("runtime")
    with closing(Workspace(root, closed=[root / "runtime"])) as opened:
        for text in ("runtime/token", "runtime", "link/token", str(root / "runtime/new")):
            with pytest.raises(PolicyRefusal):
                opened.path(text)
        assert opened.path("runtime-2") == "runtime-2"


@pytest.mark.parametrize("target", ["secret.txt", "."])
def test_link_out_of_the_workspace_is_not_followed(
    workspace: Workspace, root: Path, outside: Path, target: str
) -> None:
    (root / "link").symlink_to(outside / target)
    text = "link" if target == "secret.txt" else "link/secret.txt"
    with pytest.raises((InvalidRequest, NotFound)):
        workspace.read(workspace.path(text))


def test_link_inside_the_workspace_names_the_file_it_leads_to(linux: Workspace, root: Path) -> None:
    (root / "link.ipynb").symlink_to("sub/b.ipynb")
    (root / "folder").symlink_to("sub")
    assert linux.path("link.ipynb") == "sub/b.ipynb"
    assert linux.path("folder/b.ipynb") == "sub/b.ipynb"
    assert linux.path("folder/new.ipynb") == "sub/new.ipynb"


def test_magic_link_is_not_followed(linux: Workspace, root: Path) -> None:
    (root / "fd").symlink_to("/proc/self/fd")
    with pytest.raises(InvalidRequest):
        linux.read(linux.path("fd/0"))


def test_directory_swapped_for_a_link_after_the_check_leads_nowhere(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    path = workspace.path("sub/secret.txt")
    (root / "sub" / "b.ipynb").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(outside)
    with pytest.raises((InvalidRequest, NotFound)):
        workspace.read(path)


def test_read_returns_bytes_and_facts(workspace: Workspace, root: Path) -> None:
    found = workspace.read(workspace.path("a.ipynb"))
    assert found.content == b"a"
    assert found.stat.size == 1
    assert found.stat == workspace.stat(workspace.path("a.ipynb"))


def test_read_of_a_missing_file_is_not_found(workspace: Workspace) -> None:
    with pytest.raises(NotFound):
        workspace.read(workspace.path("missing.ipynb"))


def test_read_of_a_directory_is_refused(workspace: Workspace) -> None:
    with pytest.raises(InvalidRequest):
        workspace.read(workspace.path("sub"))


def test_read_of_a_fifo_is_refused_without_waiting(workspace: Workspace, root: Path) -> None:
    os.mkfifo(root / "fifo")
    with pytest.raises(InvalidRequest):
        workspace.read(workspace.path("fifo"))


def test_read_of_a_socket_is_refused(workspace: Workspace, root: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "s"))
        with pytest.raises(InvalidRequest):
            workspace.read(workspace.path("s"))


def test_replace_keeps_the_mode_and_leaves_no_other_file(workspace: Workspace, root: Path) -> None:
    (root / "a.ipynb").chmod(0o640)
    path = workspace.path("a.ipynb")
    facts = workspace.replace(path, b"new", workspace.read(path).stat)
    assert (root / "a.ipynb").read_bytes() == b"new"
    assert stat.S_IMODE((root / "a.ipynb").stat().st_mode) == 0o640
    assert facts == workspace.stat(path)
    assert sorted(item.name for item in root.iterdir()) == ["a.ipynb", "sub"]


def write_in_place(path: Path) -> None:
    path.write_text("longer")


def delete(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name("z"))


@pytest.mark.parametrize("change", [write_in_place, delete, rename])
def test_replace_of_a_changed_file_writes_nothing(
    workspace: Workspace, root: Path, change: Callable[[Path], object]
) -> None:
    path = workspace.path("a.ipynb")
    facts = workspace.read(path).stat
    change(root / "a.ipynb")
    before = {item.name: item.read_text() for item in root.iterdir() if item.is_file()}
    with pytest.raises((FileChanged, NotFound)):
        workspace.replace(path, b"new", facts)
    after = {item.name: item.read_text() for item in root.iterdir() if item.is_file()}
    assert after == before


def test_replace_of_a_file_swapped_for_a_link_writes_nothing(
    workspace: Workspace, root: Path, outside: Path
) -> None:
    path = workspace.path("a.ipynb")
    facts = workspace.read(path).stat
    (root / "a.ipynb").unlink()
    (root / "a.ipynb").symlink_to(outside / "secret.txt")
    with pytest.raises(FileChanged):
        workspace.replace(path, b"new", facts)
    assert (outside / "secret.txt").read_text() == "secret"
    assert (root / "a.ipynb").is_symlink()


@pytest.mark.parametrize(
    ("number", "error", "code"),
    [
        pytest.param(errno.ENOSPC, StateUnavailable, "disk_full", id="full disk"),
        pytest.param(errno.EROFS, PolicyRefusal, "forbidden", id="read-only"),
    ],
)
def test_replace_that_fails_leaves_the_file_and_no_other(
    linux: Workspace,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    number: int,
    error: type[ShouldersError],
    code: str,
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    path = linux.path("a.ipynb")
    facts = linux.read(path).stat
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", refuse)
        with pytest.raises(error) as raised:
            linux.replace(path, b"new", facts)
    assert raised.value.info.code == code
    assert sorted(item.name for item in root.iterdir()) == ["a.ipynb", "sub"]
    assert (root / "a.ipynb").read_text() == "a"


# New files


def test_new_file_has_the_mode_of_any_new_file(workspace: Workspace, root: Path):
    (root / "plain").touch()
    made = workspace.create(workspace.path("sub/new.ipynb"), b"{}")
    assert (root / "sub" / "new.ipynb").read_bytes() == b"{}"
    assert made.mode == stat.S_IMODE((root / "plain").stat().st_mode)
    assert sorted(entry.name for entry in (root / "sub").iterdir()) == ["b.ipynb", "new.ipynb"]


@pytest.mark.parametrize("name", ["a.ipynb", "sub"])
def test_new_file_takes_no_name_that_is_taken(workspace: Workspace, root: Path, name: str):
    with pytest.raises(Conflict, match="already exists; it was not changed"):
        workspace.create(WorkspacePath(name), b"{}")
    assert (root / "a.ipynb").read_text() == "a"
    assert sorted(entry.name for entry in root.iterdir()) == ["a.ipynb", "sub"]


def test_new_file_replaces_no_link_that_leads_out(workspace: Workspace, root: Path, outside: Path):
    (root / "way.ipynb").symlink_to(outside / "new.ipynb")
    with pytest.raises(ShouldersError):
        workspace.create(WorkspacePath("way.ipynb"), b"{}")
    assert not (outside / "new.ipynb").exists()


def test_new_file_needs_its_folder(workspace: Workspace):
    with pytest.raises(NotFound):
        workspace.create(workspace.path("nowhere/new.ipynb"), b"{}")


def test_new_file_is_made_where_there_are_no_hard_links(
    workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", refuse)
    workspace.create(workspace.path("new.ipynb"), b"{}")
    assert (root / "new.ipynb").read_bytes() == b"{}"
    with pytest.raises(Conflict):
        workspace.create(workspace.path("new.ipynb"), b"other")
    assert (root / "new.ipynb").read_bytes() == b"{}"
