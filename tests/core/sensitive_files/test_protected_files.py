import json
from importlib.resources import files

import pytest

from jupyter_ai_shoulders.core.sensitive_files.protected_files import protected_group_of

RUNNING = {
    "shell": (
        *(".profile", ".bashrc", ".bash_profile", ".bash_logout", ".zshrc", ".zshenv", ".inputrc"),
        *(".config/fish/config.fish", ".config/environment.d/a.conf", ".bash_aliases"),
    ),
    "session": (
        *(
            ".config/autostart/a.desktop",
            ".config/systemd/user/a.service",
            ".xprofile",
            ".tmux.conf",
        ),
        *("Library/LaunchAgents/a.plist", ".local/share/applications/firefox.desktop"),
    ),
    "programs": (".local/bin/git", ".cargo/bin/ls", "project/.venv/bin/python"),
    "python": (
        *("sitecustomize.py", "lib/usercustomize.py", "a/b/x.pth", ".pdbrc"),
        *(".local/lib/python3.12/site-packages/numpy.py", "venv/pyvenv.cfg"),
    ),
    "jupyter": (
        *(".jupyter/jupyter_server_config.py", ".jupyter/custom/custom.js"),
        *(".local/share/jupyter/kernels/x/kernel.json", "kernels/x/kernel.json"),
        *(".ipython/profile_default/startup/00.py", "jupyter_lab_config.py", "ipython_config.py"),
    ),
    "languages": (".Rprofile", "sub/.RData", ".julia/config/startup.jl", ".gdbinit", ".octaverc"),
    "git": (
        *(".gitconfig", ".git/hooks/pre-commit", ".git/commondir", "sub/.git", ".GIT/config"),
        *(".config/git/config", ".gitmodules", ".hg/hgrc"),
    ),
    "editors": (
        *(".vscode/tasks.json", "sub/.vscode/settings.json", ".idea/workspace.xml", ".vimrc"),
        *(".devcontainer/devcontainer.json", "x.code-workspace", ".dir-locals.el"),
    ),
    "automation": (
        *(".github/workflows/ci.yml", ".gitlab-ci.yml", ".pre-commit-config.yaml"),
        *(".husky/pre-commit", "Jenkinsfile"),
    ),
    "instructions": (
        *("AGENTS.md", "sub/claude.md", "GEMINI.md", ".github/copilot-instructions.md"),
        *(".cursor/rules/a.mdc", ".cursorrules", "_instructions.md", ".claude/settings.json"),
        *(
            ".github/instructions/a.md",
            ".mcp.json",
            ".windsurfrules",
            ".shoulders/skills/a/SKILL.md",
        ),
    ),
}
PLAIN = (
    *(
        "analysis.ipynb",
        "src/main.py",
        "README.md",
        "data/.hidden",
        "environment.yml",
        "profile.py",
    ),
    *(".github/ISSUE_TEMPLATE/a.md", ".gitignore", "docs/agents.rst", "bin/tool", "setup.py"),
    *("kernel.py", "local/bin/x", "conftest.py", ".ipynb_checkpoints/a-checkpoint.ipynb"),
)


@pytest.mark.parametrize(
    ("kind", "path"), [(kind, path) for kind, paths in RUNNING.items() for path in paths]
)
def test_file_that_runs_by_itself_is_known_by_its_kind(kind: str, path: str):
    for spelled in (path, f"home/ada/{path}", path.upper()):
        group = protected_group_of(spelled)
        assert group is not None
        assert group.kind == kind


@pytest.mark.parametrize("path", PLAIN)
def test_other_files_do_not(path: str):
    assert protected_group_of(path) is None


@pytest.mark.parametrize("name", ["secret_files.json", "protected_files.json"])
def test_every_group_of_the_tables_names_its_source(name: str):
    table = json.loads(
        files("jupyter_ai_shoulders.core.sensitive_files").joinpath(name).read_text("utf-8")
    )
    for group in table["groups"]:
        assert group["source"]
        assert group["files"] or group["places"]
