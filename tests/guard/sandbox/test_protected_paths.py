"""Detection and protection of paths a sandboxed command must not read or change."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_ai_shoulders.core.sensitive_files.protected_files import first_protected_file_in
from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.sandbox import protected_paths
from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities, detect_capabilities
from jupyter_ai_shoulders.guard.sandbox.protected_paths import (
    SandboxLocations,
    find_protected_paths,
)
from jupyter_ai_shoulders.guard.sandbox.sandbox import Sandbox
from jupyter_ai_shoulders.guard.sandbox.sandbox_policy import SandboxRequest
from tests.guard.command_runner import CommandResult, program, run_command
from tests.guard.git_repositories import git, make_repository

COVERING = SandboxCapabilities("landlock", covers=True)


@pytest.fixture
def places(tmp_path: Path) -> SandboxLocations:
    root = make_repository(tmp_path / "root")
    for name in ("AGENTS.md", "sub/claude.md", ".git/hooks/pre-commit"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("as it was\n")
    return SandboxLocations(root, root / ".shoulders", tmp_path / "home", dict(os.environ))


def boxed(places: SandboxLocations, facts: SandboxCapabilities) -> Sandbox:
    async def told() -> SandboxCapabilities:
        return facts

    return Sandbox(places, told)


async def tried(
    places: SandboxLocations, line: str, wanted: SandboxRequest | None = None
) -> CommandResult | None:
    """Run a line in the sandbox; None on a system whose sandbox cannot hide paths."""
    facts = await detect_capabilities(SpawnerPool())
    if not facts.covers:
        return None
    asked = program(line, places.workspace)
    with boxed(places, facts).confined(asked, facts, wanted or SandboxRequest()) as confined:
        return await run_command(confined)


def below(places: SandboxLocations, paths: tuple[object, ...]) -> set[str]:
    return {Path(str(path)).relative_to(places.workspace).as_posix() for path in paths}


@pytest.mark.parametrize(
    "line",
    [
        "echo x > AGENTS.md",
        "rm AGENTS.md",
        "echo x > new && mv new AGENTS.md",
        "echo x > sub/claude.md",
        "echo x > .git/hooks/pre-commit",
        "echo x > .git/hooks/post-commit",
        "git config core.hooksPath /elsewhere",
        "echo x >> .git/config",
        "mv .git away && cp -r away .git && echo x >> .git/config",
        "echo /elsewhere > .git/commondir",
        "mkdir -p .git/modules/x && touch .git/modules/x/config",
        "echo x > .git/objects/info/alternates",
    ],
)
async def test_what_shapes_the_agent_or_runs_cannot_be_changed(
    places: SandboxLocations, line: str
) -> None:
    root = places.workspace
    kept = [root / name for name in ("AGENTS.md", "sub/claude.md", ".git/config")]
    before = [path.read_text() for path in kept], sorted((root / ".git/hooks").iterdir())

    done = await tried(places, line)

    if done is None:
        exposed = boxed(places, replace(COVERING, covers=False)).exposure(
            replace(COVERING, covers=False), SandboxRequest()
        )
        assert str(root / "AGENTS.md") in exposed.paths
        return
    assert done.ended.code != 0, done.all
    after = [path.read_text() for path in kept], sorted((root / ".git/hooks").iterdir())
    assert after == before


async def test_work_with_git_goes_on_in_the_sandbox(places: SandboxLocations) -> None:
    (places.workspace / ".git/hooks/pre-commit").unlink()

    git_lines = SandboxRequest(repositories=True)
    done = await tried(
        places, "set -e; echo x > n; git add n; git commit -qm N; git checkout -qb b", git_lines
    )
    refused = await tried(places, "git config core.pager x || echo x > .git/hooks/x", git_lines)
    shown = await tried(places, "git log --oneline; git status; git diff HEAD")

    assert done is None or done.ended.code == 0, done and done.all
    assert done is None or git(places.workspace, "log", "-1", "--format=%s").strip() == "N"
    assert refused is None or refused.ended.code != 0
    assert shown is None or (shown.ended.code == 0 and " N\n" in shown.out)


async def test_passwords_in_the_settings_of_git_are_not_shown(places: SandboxLocations) -> None:
    git(places.workspace, "remote", "add", "origin", "https://me:hidden@example.com/a.git")
    git(places.workspace, "config", "http.extraHeader", "Authorization: hidden")
    assert below(places, find_protected_paths(places).secret) == {".git/config", ".shoulders"}

    done = await tried(places, "cat .git/config; git remote -v")

    assert done is None or "hidden" not in done.all
    assert done is None or "https://example.com/a.git (fetch)" in done.out


def test_settings_of_git_without_passwords_are_not_secret(places: SandboxLocations) -> None:
    git(places.workspace, "remote", "add", "origin", "git@example.com:a.git")

    assert below(places, find_protected_paths(places).secret) == {".shoulders"}


def test_a_home_as_workspace_keeps_what_runs_at_login(places: SandboxLocations) -> None:
    places = replace(places, home=places.workspace)
    for name in (".bashrc", ".ipython/profile_default/startup/a.py", ".config/autostart/x"):
        (places.workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (places.workspace / name).touch()

    found = find_protected_paths(places)

    wanted = {".bashrc", ".ipython", ".config/autostart", "AGENTS.md", ".git"}
    assert wanted <= below(places, found.frozen)
    assert below(places, found.unmovable) == {".config"}


def test_deep_secrets_are_found_and_installed_files_are_passed_over(
    places: SandboxLocations,
) -> None:
    for name in ("a/b/c/d/e/f/g/.env", "node_modules/x/.env", "venv/lib/.env"):
        (places.workspace / name).parent.mkdir(parents=True)
        (places.workspace / name).touch()

    found = find_protected_paths(places)

    assert below(places, found.secret) == {"a/b/c/d/e/f/g/.env", ".shoulders"}
    assert not found.truncated


@pytest.mark.parametrize(
    "wanted", [SandboxRequest(), SandboxRequest(read_only=True)], ids=["write", "read only"]
)
def test_a_search_that_was_cut_is_told(
    places: SandboxLocations, wanted: SandboxRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = boxed(places, COVERING)
    assert box.exposure(COVERING, wanted).truncated is False

    monkeypatch.setattr(protected_paths, "_MOST_ENTRIES", 3)

    assert box.exposure(COVERING, wanted).truncated is True


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("cp x AGENTS.md", "AGENTS.md"),
        ("echo x >agents.MD", "agents.MD"),
        ('echo x > sub/"CLAUDE".md', "sub/CLAUDE.md"),
        ("rm ./.git/hooks/x", "./.git/hooks/x"),
        ("tee .shoulders/a", ".shoulders/a"),
        ("echo x >> ~/.bashrc", "~/.bashrc"),
        ("cp x --target-directory=.vscode", ".vscode"),
        ("curl -o site/sitecustomize.py x", "site/sitecustomize.py"),
        (".venv/bin/python train.py", None),
        ("git clone https://example.com/a.git", None),
        ("cat .gitignore .github/x", None),
        ("python -m cProfile -o out.profile agents.mdx", None),
    ],
)
def test_names_in_a_line_are_seen(line: str, name: str | None) -> None:
    assert first_protected_file_in(line) == name


def test_bubblewrap_is_the_program_that_was_tried(places: SandboxLocations) -> None:
    """A command's path may contain another program of that name."""
    facts = SandboxCapabilities("bubblewrap", covers=True, program="/opt/bwrap")
    root = str(places.workspace)

    with boxed(places, facts).confined(
        program("true", places.workspace), facts, SandboxRequest()
    ) as confined:
        words = list(confined.words)

    assert words[0] == "/opt/bwrap"
    assert words[words.index(f"{root}/.git") - 1] == "--ro-bind-try"
