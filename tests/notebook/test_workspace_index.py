from pathlib import Path

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.file_tree import find_file_names
from jupyter_ai_shoulders.notebook.workspace_index import WorkspaceNotebookIndex


def workspace_with(root: Path, *names: str) -> Workspace:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return Workspace(root)


async def test_the_most_similar_names_come_first(tmp_path: Path):
    names = ("eda/analysis.ipynb", "analysis_old.ipynb", "zoo.ipynb", "notes.md")
    workspace = workspace_with(tmp_path, *names)
    near = await WorkspaceNotebookIndex(workspace).near("Analysis.ipynb")
    assert near == ("eda/analysis.ipynb", "analysis_old.ipynb", "zoo.ipynb")
    workspace.close()


def test_hidden_folders_links_and_environments_are_not_walked(tmp_path: Path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.ipynb").touch()
    names = ("a.ipynb", ".ipynb_checkpoints/a.ipynb", "venv/b.ipynb", "deep/er/c.ipynb")
    workspace = workspace_with(tmp_path / "root", *names)
    (tmp_path / "root" / "link").symlink_to(outside)
    assert find_file_names(workspace, ".ipynb") == ["a.ipynb", "deep/er/c.ipynb"]
    workspace.close()


def test_the_walk_is_bounded_and_nearest_files_come_first(tmp_path: Path):
    workspace = workspace_with(tmp_path, *(f"{n}/{n}.ipynb" for n in range(20)), "top.ipynb")
    assert find_file_names(workspace, ".ipynb", limit=22) == ["top.ipynb", "0/0.ipynb"]
    workspace.close()
