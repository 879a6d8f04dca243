"""Reading a repository of the workspace, including hostile ones."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, PolicyRefusal
from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace, WorkspacePath
from jupyter_ai_shoulders.guard.git.repository import (
    ChangedFile,
    Repository,
    RepositoryStatus,
    find_repository,
)
from tests.guard.git_repositories import git, make_repository, program

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
ROOT = WorkspacePath("")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "root")


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    found = Workspace(root)
    yield found
    found.close()


def status_of(workspace: Workspace, near: str = "") -> RepositoryStatus:
    return find_repository(workspace, WorkspacePath(near)).status()


def test_changed_files_have_their_states(workspace: Workspace, root: Path):
    (root / "b.py").write_text("b")
    (root / "odd\nname ü.txt").write_text("x")
    git(root, "add", "b.py")
    (root / "b.py").write_text("b2")
    (root / "a.py").unlink()
    status = status_of(workspace)
    assert (status.branch, status.upstream, status.ahead) == ("main", None, None)
    assert status.commit == git(root, "rev-parse", "HEAD").strip()
    assert status.files == [
        ChangedFile("a.py", None, "deleted"),
        ChangedFile("b.py", "added", "modified"),
        ChangedFile("odd\nname ü.txt", untracked=True),
    ]


def test_branch_is_compared_with_its_upstream(workspace: Workspace, root: Path, tmp_path: Path):
    git(tmp_path, "clone", "-q", "--bare", str(root), "far.git")
    git(root, "remote", "add", "origin", str(tmp_path / "far.git"))
    git(root, "fetch", "-q", "origin")
    git(root, "branch", "-q", "--set-upstream-to", "origin/main")
    git(root, "commit", "-q", "--allow-empty", "-m", "Mine")
    status = status_of(workspace)
    assert (status.upstream, status.ahead, status.behind) == ("origin/main", 1, 0)


def test_repository_without_a_commit_and_without_a_branch(tmp_path: Path):
    git(tmp_path, "init", "-q", "-b", "new")
    (tmp_path / "a.py").write_text("x")
    workspace = Workspace(tmp_path)
    status = status_of(workspace)
    assert (status.branch, status.commit) == ("new", None)
    assert status.files == [ChangedFile("a.py", untracked=True)]
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "One")
    git(tmp_path, "checkout", "-q", "--detach")
    assert status_of(workspace).branch == ""
    workspace.close()


def test_merge_in_conflict_is_told(workspace: Workspace, root: Path):
    git(root, "checkout", "-qb", "other")
    (root / "a.py").write_text("theirs\n")
    git(root, "commit", "-qam", "Theirs")
    git(root, "checkout", "-q", "main")
    (root / "a.py").write_text("mine\n")
    git(root, "commit", "-qam", "Mine")
    with pytest.raises(Exception, match="non-zero"):
        git(root, "merge", "-q", "other")
    [file] = status_of(workspace).files
    assert file.in_conflict


def test_workspace_below_the_repository_tells_only_of_itself(tmp_path: Path):
    top = make_repository(tmp_path / "top")
    (top / "work").mkdir()
    (top / "work" / "b.py").write_text("b\n")
    git(top, "add", ".")
    git(top, "commit", "-qm", "More")
    (top / "a.py").write_text("outside\n")
    (top / "work" / "b.py").write_text("inside\n")
    (top / "work" / "new.py").write_text("n\n")
    workspace = Workspace(top / "work")
    repository = find_repository(workspace, ROOT)
    assert [file.path for file in repository.status().files] == ["b.py", "new.py"]
    diff = repository.diff()
    assert diff.files == ("b.py",)
    assert "+inside" in diff.text
    assert "a/b.py b/b.py" in diff.text
    assert "outside" not in diff.text
    git(top, "add", "a.py")
    assert repository.has_staged_outside()
    workspace.close()


def test_repository_below_the_workspace_is_told_with_the_workspaces_paths(tmp_path: Path):
    make_repository(tmp_path / "sub" / "repo")
    (tmp_path / "sub" / "repo" / "a.py").write_text("changed\n")
    workspace = Workspace(tmp_path)
    repository = find_repository(workspace, WorkspacePath("sub/repo/a.py"))
    assert repository.status().files == [ChangedFile("sub/repo/a.py", None, "modified")]
    assert "a/sub/repo/a.py b/sub/repo/a.py" in repository.diff().text
    assert repository.diff(paths=[WorkspacePath("sub/repo/a.py")]).files == ("sub/repo/a.py",)
    with pytest.raises(InvalidRequest, match="not in the repository"):
        repository.diff(paths=[WorkspacePath("other.py")])
    with pytest.raises(NotFound, match="not in a git repository"):
        find_repository(workspace, ROOT)
    workspace.close()


def test_staged_and_other_changes_are_told_apart(workspace: Workspace, root: Path):
    (root / "a.py").write_text("one\nstaged\n")
    git(root, "add", "a.py")
    (root / "a.py").write_text("one\nlater\n")
    repository = find_repository(workspace, ROOT)
    assert "+staged" in repository.diff(["--cached"]).text
    assert "+later" in repository.diff().text
    assert "+later" not in repository.diff(["--cached"]).text


def test_paths_are_taken_literally(workspace: Workspace, root: Path):
    for name in ("[a].py", "a*.py", ":(top)x"):
        (root / name).write_text("1\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Odd")
    for name in ("a.py", "[a].py", "a*.py", ":(top)x"):
        (root / name).write_text("2\n")
    repository = find_repository(workspace, ROOT)
    for name in ("[a].py", "a*.py", ":(top)x"):
        assert repository.diff(paths=[WorkspacePath(name)]).files == (name,)


def test_secret_files_are_named_and_not_shown(workspace: Workspace, root: Path):
    (root / ".env").write_text("PASSWORD=a\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Secret")
    (root / ".env").write_text("PASSWORD=b\n")
    (root / "a.py").write_text("open\n")
    diff = find_repository(workspace, ROOT).diff()
    assert (diff.files, diff.secrets) == (("a.py",), (".env",))
    assert "PASSWORD" not in diff.text


def hostile_settings(run: Path) -> dict[str, str]:
    """Return settings that each make a plain ``git status`` or ``git diff`` run a program."""
    names = (
        *("core.fsmonitor", "core.pager", "pager.diff", "pager.status", "diff.external"),
        *("diff.evil.command", "diff.evil.textconv", "core.sshCommand", "core.askPass"),
        *("filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "gpg.program"),
        *("interactive.diffFilter", "credential.helper", "core.alternateRefsCommand"),
    )
    return {
        **dict.fromkeys(names, str(run)),
        "filter.evil.required": "true",
        "core.hooksPath": str(run.parent / "hooks"),
        "log.showSignature": "true",
        "submodule.recurse": "true",
        "status.submoduleSummary": "true",
    }


def test_reads_of_a_hostile_repository_run_nothing(
    workspace: Workspace, root: Path, tmp_path: Path
):
    marker = tmp_path / "ran"
    run = program(tmp_path / "evil" / "evil.sh", marker)
    for hook in ("post-index-change", "reference-transaction", "pre-commit"):
        program(tmp_path / "evil" / "hooks" / hook, marker)
    for name, value in hostile_settings(run).items():
        git(root, "config", name, value)
    (root / ".gitattributes").write_text("*.py filter=evil diff=evil\n")
    (root / "a.py").write_text("changed\n")
    repository = find_repository(workspace, ROOT)
    assert [file.path for file in repository.status().files] == [".gitattributes", "a.py"]
    assert "+changed" in repository.diff().text
    assert repository.diff(["--cached"]).text == ""
    assert not marker.exists(), marker.read_text()


def refused(workspace: Workspace) -> PolicyRefusal:
    with pytest.raises(PolicyRefusal) as raised:
        find_repository(workspace, ROOT)
    return raised.value


def test_work_tree_elsewhere_is_not_read(workspace: Workspace, root: Path, tmp_path: Path):
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "a.py").write_text("private\n")
    git(root, "config", "core.worktree", str(tmp_path / "private"))
    assert refused(workspace).info.code == "outside_workspace"


@pytest.mark.parametrize("how", ["file", "link", "common"])
def test_history_of_another_folder_is_not_read(tmp_path: Path, how: str):
    private = make_repository(tmp_path / "private", a_py="private text\n")
    root = tmp_path / "root"
    root.mkdir()
    if how == "file":
        (root / ".git").write_text(f"gitdir: {private}/.git\n")
    elif how == "link":
        (root / ".git").symlink_to(private / ".git")
    else:
        make_repository(root)
        (root / ".git" / "commondir").write_text(f"{private}/.git\n")
    workspace = Workspace(root)
    assert refused(workspace).info.code == "outside_workspace"
    workspace.close()


def test_linked_worktrees_and_submodules_are_read(tmp_path: Path):
    main = make_repository(tmp_path / "main")
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    git(main, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(main), "sub")
    for place, branch in ((tmp_path / "linked", "side"), (main / "sub", "main")):
        (place / "a.py").write_text("changed\n")
        workspace = Workspace(place)
        status = status_of(workspace)
        assert (status.branch, [file.path for file in status.files]) == (branch, ["a.py"])
        workspace.close()


def test_filter_that_cannot_be_switched_off_is_refused(workspace: Workspace, root: Path):
    with (root / ".git" / "config").open("a") as config:
        config.write('[filter "a=b"]\n\tclean = "cat"\n')
    assert refused(workspace).info.code == "forbidden"


def test_system_without_git_says_so(workspace: Workspace, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "")
    assert refused(workspace).info.code == "disabled"


def test_no_repository_is_not_found(tmp_path: Path):
    (tmp_path / "root").mkdir()
    workspace = Workspace(tmp_path / "root")
    with pytest.raises(NotFound):
        find_repository(workspace, WorkspacePath("missing/file.py"))
    workspace.close()


def test_reads_leave_the_index_alone(workspace: Workspace, root: Path):
    before = (root / ".git" / "index").read_bytes()
    (root / "a.py").write_text("one\ntwo\n")  # the same text with another modification time
    repository: Repository = find_repository(workspace, ROOT)
    repository.status()
    repository.diff()
    assert (root / ".git" / "index").read_bytes() == before
