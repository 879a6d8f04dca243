"""``references/check`` over a workspace of notebooks and texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.server.client import NO_RULES, Api
from tests.server.handlers.references.test_reference_tools import put_notebook, put_text
from tests.simulator.services import ServiceSimulator

BIBLIOGRAPHY = """@article{lancet, title = {Ileal}, author = {W, A}, journal = {Lancet},
  year = 1998, doi = {10.1016/s0140-6736(97)11096-0}}
@misc{dead, title = {Gone}, doi = {10.5555/no-longer-there}}
@misc{uncited, title = {Nobody cites it}}
@misc{broken, title = {A} year = 1}
"""


def workspace(folder: Path) -> list[str]:
    """Write a workspace; return the ids of the cells of its notebook."""
    put_text(folder / "references.bib", BIBLIOGRAPHY)
    put_text(folder / "notes.md", "See [@dead; @nobody].\n\n`[@code]`\n")
    return put_notebook(folder / "a.ipynb", "Text", "As {cite}`lancet,missing` and {cite}`broken`.")


async def check(api: Api, **body: Any) -> dict[str, Any]:
    answer = await api.post("references/check", body)
    assert answer.status == 200, answer
    return answer.body


def shown(found: dict[str, Any]) -> list[tuple[str, str, str]]:
    return [(f["kind"], f["key"], f["path"]) for f in found["findings"]]


async def test_all_documents_are_checked_against_all_bibliographies(
    api: Api, jp_root_dir: Path
) -> None:
    ids = workspace(jp_root_dir)
    found = await check(api)
    assert shown(found) == [
        ("retracted", "lancet", "references.bib"),
        ("missing", "missing", "a.ipynb"),
        ("missing", "nobody", "notes.md"),
        ("dead_doi", "dead", "references.bib"),
        ("broken_entry", "", "references.bib"),
        ("uncited", "uncited", "references.bib"),
    ]
    assert found["findings"][0]["url"] == "https://doi.org/10.1016/s0140-6736(10)60175-4"
    assert (found["findings"][1]["cell_id"], found["findings"][1]["line"]) == (ids[1], 1)
    assert (found["documents"], found["references"]) == (2, 3)
    assert found["not_checked"] == "1 reference without a DOI was not looked up."


async def test_one_document_is_checked_without_the_network(
    api: Api, jp_root_dir: Path, services: ServiceSimulator
) -> None:
    workspace(jp_root_dir)
    found = await check(api, path="notes.md", online=False)
    kinds = {kind for kind, _, _ in shown(found)}
    assert ("missing", "nobody", "notes.md") in shown(found)
    assert kinds == {"missing", "broken_entry", "uncited"}
    assert "not asked" in found["not_checked"]
    assert services.requests == {}
    assert (await api.post("references/check", {"path": "none.md"})).status == 404
    assert (await api.post("references/check", {"path": "a.py"})).status == 400


async def test_without_permission_only_the_texts_are_checked(
    api: Api, jp_root_dir: Path, services: ServiceSimulator
) -> None:
    workspace(jp_root_dir)
    body = NO_RULES | {"disable_external": True}
    assert (await api.put("tools/permissions", body)).status == 200
    found = await check(api)
    assert ("missing", "nobody", "notes.md") in shown(found)
    assert "switched off" in found["not_checked"]
    assert services.requests == {}


async def test_registers_that_fail_are_said(
    api: Api, jp_root_dir: Path, services: ServiceSimulator
) -> None:
    workspace(jp_root_dir)
    services.fail("crossref", "error_500")
    found = await check(api)
    assert "retracted" not in {kind for kind, _, _ in shown(found)}
    assert "2 DOIs could not be looked up: Crossref failed" in found["not_checked"]
