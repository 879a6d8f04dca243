"""``references``: listed, searched, shown, changed and deleted."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from traitlets.config import Config

from tests.files.previews.sample_documents import pdf
from tests.server.client import Api
from tests.server.conftest import OpenPage
from tests.server.connections.test_open_text_files import announce, answer
from tests.simulator import Simulator
from tests.simulator.services import ServiceSimulator


def put_bytes(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def bytes_of(path: Path) -> bytes:
    return path.read_bytes()


def text_of(path: Path) -> str:
    return path.read_text()


async def keys(api: Api, query: str = "") -> list[str]:
    answer = await api.get("references", q=query)
    assert answer.status == 200, answer
    return [reference["key"] for reference in answer.body["references"]]


async def test_a_workspace_without_bibliographies_has_an_empty_list(api: Api) -> None:
    answer = await api.get("references")
    assert answer.body == {
        "references": [],
        "total": 0,
        "files": [],
        "problems": [],
        "zotero": {"running": False, "items": 0, "problem": ""},
        "add_to": "references.bib",
        "syntax": "myst",
    }


async def test_references_of_all_bibliographies_are_listed_but_not_of_ignored_ones(
    api: Api, bibliography: Path, jp_root_dir: Path
) -> None:
    (jp_root_dir / "papers").mkdir()
    (jp_root_dir / "papers" / "more.bib").write_text("@misc{zeta, title = {Zeta}}")
    (jp_root_dir / ".gitignore").write_text("old.bib\n")
    (jp_root_dir / "old.bib").write_text("@misc{old, title = {Old}}")

    assert await keys(api) == ["harris2020", "knuth1984", "zeta"]
    answer = (await api.get("references", limit=1, offset=1)).body
    assert [reference["key"] for reference in answer["references"]] == ["knuth1984"]
    assert answer["total"] == 3
    assert answer["files"] == [
        {"path": "references.bib", "is_main": True, "entries": 2},
        {"path": "papers/more.bib", "is_main": False, "entries": 1},
    ]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("numpy", ["harris2020"]),
        ("stefan walt", ["harris2020"]),
        ("@knu", ["knuth1984"]),
        ("nature 2020", ["harris2020"]),
        ("10.1038/s41586", ["harris2020"]),
        ("numpy knuth", []),
    ],
)
async def test_references_are_found_by_words_and_by_key(
    api: Api, bibliography: Path, query: str, found: list[str]
) -> None:
    assert await keys(api, query) == found


async def test_an_entry_is_shown_with_plain_fields(api: Api, bibliography: Path) -> None:
    entry = (await api.get("references/entry", key="harris2020")).body
    assert entry["reference"] == {
        "key": "harris2020",
        "type": "article",
        "file": "references.bib",
        "line": 4,
        "title": "Array programming with NumPy",
        "authors": ["Charles R. Harris", "Stéfan J. van der Walt"],
        "year": "2020",
        "venue": "Nature",
        "doi": "10.1038/s41586-020-2649-2",
        "url": "",
        "pdf": "",
        "unverified": "",
        "is_duplicate": False,
    }
    assert entry["fields"]["journal"] == "Nature"
    assert entry["bibtex"].startswith("@article{harris2020,")
    assert (await api.get("references/entry", key="nobody")).status == 404


async def test_a_pdf_beside_the_bibliography_is_named(api: Api, jp_root_dir: Path) -> None:
    (jp_root_dir / "a.pdf").write_bytes(b"%PDF-")
    (jp_root_dir / "references.bib").write_text(
        "@misc{a, file = {:a.pdf:PDF}}\n@misc{b, file = {Full Text:b.pdf:application/pdf}}"
    )
    found = (await api.get("references")).body["references"]
    assert [reference["pdf"] for reference in found] == ["a.pdf", ""]


async def test_broken_entries_and_unreadable_files_are_reported(
    api: Api, jp_root_dir: Path
) -> None:
    (jp_root_dir / "references.bib").write_text("@misc{a, x = 1}\n@misc{b, x = 1 y = 2}\n")
    (jp_root_dir / "binary.bib").write_bytes(b"\x01\x02\x03\x80" * 100)
    answer = (await api.get("references")).body
    assert [(p["file"], p["line"]) for p in answer["problems"]] == [
        ("references.bib", 2),
        ("binary.bib", 1),
    ]
    assert [reference["key"] for reference in answer["references"]] == ["a"]


async def test_a_field_is_changed_and_every_other_byte_stays(api: Api, bibliography: Path) -> None:
    before = text_of(bibliography)
    answer = await api.post(
        "references/edit", {"key": "knuth1984", "fields": {"publisher": "Addison & Wesley"}}
    )
    assert answer.status == 200, answer
    assert answer.body["venue"] == "Addison & Wesley"
    assert text_of(bibliography) == before.replace("{Addison}", r"{Addison \& Wesley}")

    rows = (await api.get("operations")).body["operations"]
    assert [(row["kind"], row["by"]) for row in rows] == [("edit", "user")]
    assert (await api.post(f"operations/{rows[0]['id']}/undo")).status == 200
    assert text_of(bibliography) == before


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"key": "nobody", "fields": {"title": "A"}}, 404),
        ({"key": "knuth1984", "fields": {"note": None}}, 404),
        ({"key": "knuth1984", "fields": {"title": "{"}}, 400),
        ({"key": "knuth1984", "fields": {"a b": "A"}}, 400),
        ({"key": "knuth1984", "file": "other.bib", "fields": {"title": "A"}}, 404),
        ({"key": "knuth1984"}, 400),
    ],
    ids=["no entry", "no field", "braces", "name", "file", "no fields"],
)
async def test_a_change_that_makes_no_sense_is_refused(
    api: Api, bibliography: Path, body: dict[str, Any], status: int
) -> None:
    before = text_of(bibliography)
    assert (await api.post("references/edit", body)).status == status
    assert text_of(bibliography) == before


async def test_an_entry_is_deleted(api: Api, bibliography: Path) -> None:
    before = text_of(bibliography)
    body = {"key": "knuth1984", "file": "references.bib"}
    assert (await api.post("references/delete", body)).status == 204
    assert text_of(bibliography) == before[: before.index("@book")]
    assert (await api.post("references/delete", body)).status == 404


async def test_a_work_is_added_by_any_typed_query(api: Api, bibliography: Path) -> None:
    added = await api.post("references", {"query": "https://doi.org/10.5281/zenodo.3509134"})
    assert added.status == 200, added
    assert added.body["status"] == "added"
    assert added.body["source"] == "DataCite"
    assert added.body["reference"]["key"] == "pandas2024pandas"
    assert "@software{" in text_of(bibliography)

    same = await api.post("references", {"query": "10.1038/S41586-020-2649-2"})
    assert (same.body["status"], same.body["reference"]["key"]) == ("duplicate", "harris2020")
    gone = await api.post("references", {"doi": "10.5555/no-longer-there"})
    assert (gone.body["status"], gone.body["reference"]) == ("not_added", None)
    assert "No register has" in gone.body["reason"]
    retracted = (await api.post("references", {"doi": "10.1016/S0140-6736(97)11096-0"})).body
    assert "This work was retracted" in retracted["reason"]
    assert (await api.post("references", {})).status == 400


async def test_encoding_and_line_ends_of_a_bibliography_stay(api: Api, bibliography: Path) -> None:
    before = "% Käse\r\n@misc{a,\r\n\ttitle = {Größe},\r\n\tnote = {x}\r\n}\r\n"
    put_bytes(bibliography, before.encode("cp1252"))
    body = {"key": "a", "fields": {"note": "Fuß", "year": "2000"}}
    assert (await api.post("references/edit", body)).status == 200
    after = before.replace("{x}", "{Fuß},\r\n\tyear = {2000}")
    assert bytes_of(bibliography) == after.encode("cp1252")
    refused = await api.post("references/edit", {"key": "a", "fields": {"note": "数"}})
    assert refused.status == 400
    assert "cp1252" in refused.error["message"]
    assert bytes_of(bibliography) == after.encode("cp1252")


async def test_unsaved_text_of_an_open_bibliography_is_listed_and_edited_in_the_page(
    api: Api, open_page: OpenPage, bibliography: Path
) -> None:
    saved, typed = text_of(bibliography), "@misc{typed,\n  title = {Unsaved},\n}\n"
    page = await open_page()
    page.hello()
    await page.until("welcome")
    announce(page, "references.bib", typed)
    answering = asyncio.create_task(answer(page, typed))
    assert await keys(api) == ["typed"]
    body = {"key": "typed", "fields": {"year": "2000"}}
    editing = asyncio.create_task(api.post("references/edit", body))
    change = await answering
    assert change["text"] == typed.replace("d},", "d},\n  year = {2000},")
    assert text_of(bibliography) == saved
    editing.cancel()  # it waits for the page, which answers nothing more


async def test_a_pdf_is_added_by_its_first_page_and_named_in_the_entry(
    api: Api, bibliography: Path
) -> None:
    page = "Deep learning, by Yann LeCun. https://doi.org/10.1038/nature14539"
    put_bytes(bibliography.parent / "paper.pdf", pdf(page, "References: 10.5555/other"))
    added = (await api.post("references", {"query": "paper.pdf"})).body
    assert added["status"] == "added", added
    assert added["reference"]["doi"] == "10.1038/nature14539"
    assert added["reference"]["pdf"] == "paper.pdf"


async def test_a_spent_budget_leaves_what_the_register_has_or_the_reason(
    api: Api, bibliography: Path, upstream: Simulator
) -> None:
    await api.put("budget", {"month_micro_usd": 0})
    text = "LeCun Y. Deep learning. Nature 521, 436 (2015)."
    found = (await api.post("references", {"text": text})).body
    assert (found["status"], found["reference"]["doi"]) == ("added", "10.1038/nature14539")
    nothing = (await api.post("references", {"text": "Miller, A. An unknown study. 1999."})).body
    assert (nothing["status"], nothing["reference"]) == ("not_added", None)
    assert "your limit is $0.00" in nothing["reason"]
    assert upstream.requests == []


class TestZotero:
    """A Zotero that runs on this machine."""

    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config, services: ServiceSimulator) -> Config:
        services.recover("zotero")
        jp_server_config.Shoulders.services = services.trait
        return jp_server_config

    async def test_its_items_are_listed_after_those_of_the_workspace(
        self, api: Api, bibliography: Path
    ) -> None:
        answer = (await api.get("references", q="intelligence")).body
        assert answer["zotero"] == {"running": True, "items": 1, "problem": ""}
        assert [(r["key"], r["file"], r["line"]) for r in answer["references"]] == [
            ("turing1950", "", None)
        ]
        entry = (await api.get("references/entry", key="turing1950")).body
        assert entry["fields"]["journal"] == "Mind"
        assert entry["bibtex"].startswith("@article{turing_computing_1950")

    async def test_an_item_that_the_workspace_has_is_listed_once(
        self, api: Api, jp_root_dir: Path
    ) -> None:
        (jp_root_dir / "references.bib").write_text(
            "@misc{t, title = {T}, doi = {10.1093/MIND/lix.236.433}}"
        )
        assert await keys(api) == ["t", "WXYZ6789"]

    async def test_a_failure_is_told_and_the_workspace_is_listed(
        self, api: Api, bibliography: Path, services: ServiceSimulator
    ) -> None:
        services.fail("zotero", "error_500")
        answer = (await api.get("references")).body
        assert answer["total"] == 2
        assert answer["zotero"]["running"]
        assert "500" in answer["zotero"]["problem"]
