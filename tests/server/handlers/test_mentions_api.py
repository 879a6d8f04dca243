"""Candidates that the input offers after ``@`` and ``/``: files, variables, skills."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from jupyter_ai_shoulders.wire.api.mentions import MATCH_LIMIT
from tests.server.client import Api
from tests.simulator import Simulator, ToolUse, reply


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")


async def found(api: Api, query: str) -> list[tuple[str, str]]:
    answer = await api.get("files/search", q=query)
    assert answer.status == 200
    return [(match["path"], match["kind"]) for match in answer.body["matches"]]


async def test_files_folders_and_notebooks_are_found_by_a_few_letters(
    api: Api, jp_root_dir: Path
) -> None:
    put(jp_root_dir, "data/bikes.csv", "data/deep/bike_map.ipynb", "notes.md")

    assert await found(api, "bik") == [
        ("data/bikes.csv", "file"),
        ("data/deep/bike_map.ipynb", "notebook"),
    ]
    assert (await found(api, "data"))[0] == ("data", "folder")
    assert await found(api, "nts") == [("notes.md", "file")]


async def test_what_is_hidden_ignored_secret_or_elsewhere_is_not_found(
    api: Api, jp_root_dir: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    put(outside, "match.txt")
    put(
        jp_root_dir,
        *("match.txt", ".hidden/match.txt", "node_modules/match.txt", "out/match.txt"),
        *(".shoulders/match.txt", "match.pem", "match.env", "sub/match.log"),
    )
    (jp_root_dir / ".gitignore").write_text("out/\n*.log\n")
    (jp_root_dir / "link.match").symlink_to(outside)
    (jp_root_dir / "match.link").symlink_to(outside / "match.txt")

    assert await found(api, "match") == [("match.txt", "file")]
    assert await found(api, "../match") == []


async def test_folders_are_found_if_they_hold_a_file_that_is(api: Api, jp_root_dir: Path) -> None:
    put(jp_root_dir, "match1/a/b.txt", "match2/c.pem", "match3/.hidden")
    (jp_root_dir / "match4").mkdir()
    (jp_root_dir / "match5").mkdir()
    (jp_root_dir / "match5/link").symlink_to(jp_root_dir / "match1")

    assert [found for found in await found(api, "match") if found[1] == "folder"] == [
        ("match1", "folder"),
        ("match1/a", "folder"),
    ]


async def test_an_answer_holds_so_many_and_no_more(api: Api, jp_root_dir: Path) -> None:
    put(jp_root_dir, *(f"part{number}.csv" for number in range(MATCH_LIMIT + 30)))

    answer = await api.get("files/search", q="part")

    assert len(answer.body["matches"]) == MATCH_LIMIT
    assert answer.body["complete"] is True


@pytest.mark.parametrize("params", [{"q": "x" * 201}, {}], ids=["too long", "nothing"])
async def test_a_search_is_bounded_and_may_be_empty(api: Api, params: dict[str, Any]) -> None:
    answer = await api.get("files/search", **params)

    assert answer.status == (400 if params else 200)


async def test_variables_are_told_by_schema(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    cell = nbformat.v4.new_code_cell("password = 'hunter2'; numbers = [1, 2, 3]", id="first")
    notebook = nbformat.v4.new_notebook(cells=[cell])
    nbformat.write(notebook, jp_root_dir / "a.ipynb")
    none = await api.request("GET", "variables", params={"path": "a.ipynb"})
    assert none.body["variables"] == []
    assert "no running kernel" in none.body["reason"]

    ran = ToolUse(name="run_cell", arguments={"path": "a.ipynb", "cell_id": "first"})
    upstream.script(reply(ran), "Done.")
    await api.run(await api.new_session(mode="bypass"), "run it")

    answer = await api.request("GET", "variables", params={"path": "a.ipynb"})
    listed = {row["name"]: row["summary"] for row in answer.body["variables"]}
    assert answer.body["reason"] is None
    assert set(listed) == {"numbers", "password"}
    assert listed["numbers"].startswith("list")
    assert "hunter2" not in str(answer.body)


async def test_skills_are_listed(api: Api, jp_root_dir: Path) -> None:
    folder = jp_root_dir / ".shoulders" / "skills" / "tidy"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\ndescription: Tidies tables\n---\nDo it.\n")

    skills = (await api.get("skills")).body["skills"]

    assert [skill["name"] for skill in skills] == ["tidy", "shoulders-meta"]
    assert skills[0]["description"] == "Tidies tables"
    assert skills[0]["path"] == ".shoulders/skills/tidy/SKILL.md"
