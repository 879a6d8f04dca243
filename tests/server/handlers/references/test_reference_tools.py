"""The tools of references over HTTP: right use, refusals, permission, review and undo."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from traitlets.config import Config

from tests.server.client import NO_RULES, Api
from tests.server.handlers.references.reference_calls import asked, converse, results
from tests.simulator import Reply, Simulator, ToolUse, reply
from tests.simulator.script import SimRequest
from tests.simulator.services import ServiceSimulator

NUMPY = "10.1038/s41586-020-2649-2"


def call(name: str, **arguments: Any) -> ToolUse:
    return ToolUse(name=name, arguments=arguments)


def text_of(path: Path) -> str:
    return path.read_text()


def put_text(path: Path, text: str) -> None:
    path.write_text(text)


def put_notebook(path: Path, *sources: str) -> list[str]:
    """Write a notebook of Markdown cells and a code cell; return their ids."""
    new: Any = nbformat.v4
    notebook: Any = new.new_notebook()
    cells: list[Any] = [new.new_markdown_cell(source) for source in sources]
    cells.append(new.new_code_cell("1"))
    notebook.cells = cells
    text: Any = nbformat.writes(notebook)
    path.write_text(str(text))
    return [str(cell.id) for cell in cells]


def cell_texts(path: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in json.loads(path.read_text())["cells"]]


async def undo_all(api: Api) -> None:
    """Undo every change that waits for review."""
    edits = (await api.get("edits", status="pending")).body["edits"]
    assert edits
    for edit in edits:
        seen = {name: edit[name] for name in ("current_version", "baseline_version")}
        answer = await api.post(f"edits/{edit['id']}", {"decision": "undo", **seen})
        assert answer.status == 200, answer


async def test_references_are_searched_and_read_without_a_question(
    api: Api, upstream: Simulator, bibliography: Path
) -> None:
    _, events = await converse(
        api,
        upstream,
        call("search_references", query="numpy"),
        call("search_references", query="nothing like it"),
        call("get_reference", key="knuth1984"),
        call("get_reference", key="knuth84"),
    )
    (found, none, read, missing) = results(events)
    assert found[0] == "ok"
    assert "harris2020: Charles R. Harris, Stéfan J. van der Walt (2020)" in found[1]
    assert "No reference matches" in none[1]
    assert "@book{knuth1984" in read[1]
    assert missing[0] == "error"
    assert "Did you mean knuth1984" in missing[1]
    assert asked(events) == []


async def test_a_field_is_edited_after_it_was_read_then_reviewed_and_undone(
    api: Api, upstream: Simulator, bibliography: Path
) -> None:
    before = text_of(bibliography)
    edit = call("edit_reference", key="knuth1984", fields={"year": "1986", "note": "2 & more"})
    _, events = await converse(api, upstream, edit, edit)
    (unread, done) = results(events)
    assert unread[0] == "error"
    assert "was not read" in unread[1]
    assert done[0] == "ok", done
    after = text_of(bibliography)
    assert after.startswith(before[: before.index("@book")])
    assert r"year = 1986" in after
    assert r"note = {2 \& more}" in after
    await undo_all(api)
    assert text_of(bibliography) == before


async def test_an_edit_that_would_damage_the_file_is_refused(
    api: Api, upstream: Simulator, bibliography: Path
) -> None:
    before = text_of(bibliography)
    wrong: list[tuple[dict[str, str | None], str]] = [
        ({"isbn": None}, "has no field isbn"),
        ({"title": "{"}, "braces"),
        ({"a b": "c"}, "not a name of a field"),
    ]
    calls = [call("edit_reference", key="knuth1984", fields=fields) for fields, _ in wrong]
    _, events = await converse(api, upstream, call("get_reference", key="knuth1984"), *calls)
    (_, *answers) = results(events)
    for (_, said), (status, text) in zip(wrong, answers, strict=True):
        assert (status, said in text) == ("error", True), text
    assert text_of(bibliography) == before


async def test_a_broken_entry_is_never_rewritten(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    path = jp_root_dir / "references.bib"
    put_text(path, "@misc{b,\n  title = {A}\n  year = 2000\n}\n")
    _, events = await converse(
        api, upstream, call("edit_reference", key="b", fields={"year": "2001"})
    )
    assert results(events)[0][0] == "error"
    assert "broken" in results(events)[0][1]
    assert "2000" in text_of(path)


async def test_a_doi_is_added_and_the_change_can_be_undone(
    api: Api, upstream: Simulator, jp_root_dir: Path
) -> None:
    add = call("add_reference", doi=NUMPY)
    edit = call("edit_reference", key="harris2020array", fields={"note": "Read it"})
    _, events = await converse(api, upstream, add, add, edit)
    (first, again, edited) = results(events)
    assert edited[0] == "ok", edited
    path = jp_root_dir / "references.bib"
    assert "harris2020array" in first[1]
    assert "has it already: harris2020array" in again[1]
    assert asked(events) == ["add_reference", "add_reference", "edit_reference"]
    assert text_of(path).count("@article") == 1
    assert r"title   = {Array programming with {NumPy}}" in text_of(path)
    await undo_all(api)
    assert not path.exists()


async def test_a_whole_entry_is_added_as_it_is_with_a_free_key(
    api: Api, upstream: Simulator, bibliography: Path, services: ServiceSimulator
) -> None:
    before = text_of(bibliography)
    entry = "@misc{knuth1984,\n  title={Another  {Work}},\n  weird = 12 }"
    _, events = await converse(api, upstream, call("add_reference", bibtex=entry))
    assert results(events)[0][0] == "ok"
    added = entry.replace("knuth1984", "knuth1984a")
    assert text_of(bibliography) == f"{before}\n{added}\n"
    assert services.requests == {}


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "none": ({}, "exactly one"),
    "two": ({"doi": NUMPY, "isbn": "0262035618"}, "exactly one"),
    "no DOI": ({"doi": "nonsense"}, "is not a DOI"),
    "unknown DOI": ({"doi": "10.5555/no-longer-there"}, "No register has the DOI"),
    "two entries": ({"bibtex": "@misc{a, title={A}}@misc{b, title={B}}"}, "2 BibTeX entries"),
    "broken entry": ({"bibtex": "@misc{a, title={A} year=1}"}, "cannot be read"),
    "no such PDF": ({"file": "none.pdf"}, "none.pdf"),
    "no PDF": ({"file": "a.txt"}, "is not a PDF"),
    "outside": ({"file": "../a.pdf"}, ".."),
    "an inner address": ({"url": "http://127.0.0.1:8888/x"}, "not fetched"),
}


async def test_what_cannot_be_added_is_told_and_nothing_is_written(
    api: Api, upstream: Simulator, bibliography: Path
) -> None:
    before = text_of(bibliography)
    calls = [call("add_reference", **arguments) for arguments, _ in WRONG.values()]
    _, events = await converse(api, upstream, *calls)
    for (name, (_, said)), (status, text) in zip(WRONG.items(), results(events), strict=True):
        assert (status, said in text) == ("error", True), (name, text)
    assert text_of(bibliography) == before


async def test_registers_that_fail_are_told(
    api: Api, upstream: Simulator, services: ServiceSimulator
) -> None:
    for service in ("crossref", "datacite"):
        services.fail(service, "error_500")
    _, events = await converse(api, upstream, call("add_reference", doi=NUMPY))
    ((status, text),) = results(events)
    assert status == "error"
    assert "Crossref failed with the status 500" in text


class TestModelThatReadsTexts:
    """The model that reads an entry of a reference list is asked once, in a call of its own."""

    async def _added(
        self, api: Api, upstream: Simulator, text: str, read: dict[str, Any]
    ) -> tuple[str, str]:
        def answer(request: SimRequest) -> Reply:
            if request.tool_names == ("answer",):
                return reply(ToolUse(name="answer", arguments=read))
            if "toolu" in json.dumps(request.body["messages"]):
                return reply("Done.")
            return reply(call("add_reference", text=text))

        upstream.default(answer)
        session_id = await api.new_session(mode="bypass", toolset="full")
        events = await api.run(session_id, "go")
        return results(events)[0]

    async def test_a_doi_that_it_invents_is_never_written(
        self, api: Api, upstream: Simulator, jp_root_dir: Path
    ) -> None:
        status, text = await self._added(
            api,
            upstream,
            "Miller, Ann. An unknown study of little things. Journal of Things 3 (1999).",
            {
                "type": "article",
                "title": "An unknown study of little things",
                "authors": ["Miller, Ann", "Nobody, Bob"],
                "year": "1999",
                "venue": "Journal of Things",
                "doi": "10.5555/invented",
            },
        )
        assert status == "ok"
        assert "10.5555/invented was left out" in text
        written = text_of(jp_root_dir / "references.bib")
        assert "doi " not in written
        assert "Nobody" not in written
        assert "unverified" in written
        (found,) = (await api.get("references")).body["references"]
        assert "No register confirms" in found["unverified"]

    async def test_what_it_finds_is_taken_from_the_register(
        self, api: Api, upstream: Simulator, jp_root_dir: Path
    ) -> None:
        text = "Harris CR. Array programming with NumPy. Nature, 2020."
        status, _ = await self._added(
            api,
            upstream,
            text,
            {"title": "Array programming with NumPy", "authors": ["Harris, CR"], "year": "2020"},
        )
        assert status == "ok"
        written = text_of(jp_root_dir / "references.bib")
        assert NUMPY in written
        assert "Millman, K. Jarrod" in written
        assert "unverified" not in written


class TestPermission:
    """``add_reference`` reaches out of this computer."""

    async def _offered(self, api: Api, upstream: Simulator) -> tuple[str, str]:
        _, events = await converse(api, upstream, call("add_reference", doi=NUMPY))
        ((status, text),) = results(events)
        return status, text

    async def test_the_switch_of_external_tools_disables_the_tool_and_the_route(
        self, api: Api, upstream: Simulator, services: ServiceSimulator
    ) -> None:
        body = NO_RULES | {"disable_external": True}
        assert (await api.put("tools/permissions", body)).status == 200
        assert (await self._offered(api, upstream))[0] != "ok"
        refused = await api.post("references", {"doi": NUMPY})
        assert (refused.status, refused.code) == (422, "disabled")
        assert "switched off" in refused.error["message"]
        assert services.requests == {}
        whole = await api.post("references", {"bibtex": "@misc{a, title = {A}}"})
        assert whole.body["status"] == "added"

    async def test_a_rule_denies_the_tool_and_the_route(
        self, api: Api, upstream: Simulator, services: ServiceSimulator
    ) -> None:
        rules = [{"action": "deny", "tool": "add_reference"}]
        assert (await api.put("tools/permissions", NO_RULES | {"rules": rules})).status == 200
        status, text = await self._offered(api, upstream)
        assert status != "ok", text
        assert (await api.post("references", {"doi": NUMPY})).status == 422
        assert services.requests == {}

    class TestAdministrator:
        """The administrator's configuration."""

        @pytest.fixture
        def jp_server_config(self, jp_server_config: Config) -> Config:
            jp_server_config.Shoulders.rules = [{"action": "deny", "tool": "add_reference"}]
            return jp_server_config

        async def test_the_administrator_disables_it(
            self, api: Api, upstream: Simulator, services: ServiceSimulator
        ) -> None:
            refused = await api.post("references", {"doi": NUMPY})
            assert (refused.status, refused.code) == (422, "disabled")
            assert services.requests == {}


UNCITABLE: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown key": ({"key": "harris2021", "path": "a.md"}, "Did you mean harris2020"),
    "no key": ({"key": " , ", "path": "a.md"}, "There is no key"),
    "a notebook without a cell": ({"key": "harris2020", "path": "a.ipynb"}, "needs its cell"),
    "no such cell": (
        {"key": "harris2020", "path": "a.ipynb", "cell_id": "none"},
        "no cell with the id",
    ),
    "a cell of a file": (
        {"key": "harris2020", "path": "a.md", "cell_id": "c"},
        "is not a notebook",
    ),
    "no such file": ({"key": "harris2020", "path": "b.md"}, "There is no file"),
    "code": ({"key": "harris2020", "path": "a.py"}, "not a text that cites"),
    "a missing place": (
        {"key": "harris2020", "path": "a.md", "after": "elsewhere"},
        "is not in the document",
    ),
    "an ambiguous place": (
        {"key": "harris2020", "path": "a.md", "after": "e"},
        "more than once",
    ),
}


class TestCitations:
    """``cite_reference`` in notebooks and texts."""

    async def test_a_cell_cites_in_the_syntax_of_its_notebook_and_it_can_be_undone(
        self, api: Api, upstream: Simulator, bibliography: Path, jp_root_dir: Path
    ) -> None:
        path = jp_root_dir / "a.ipynb"
        first, second, _ = put_notebook(path, "See [@knuth1984].", "Arrays are fast.")
        before = text_of(path)
        read = call("read_notebook", path="a.ipynb")
        cite = call("cite_reference", key="harris2020", path="a.ipynb", cell_id=second)
        join = call("cite_reference", key="harris2020, knuth1984", path="a.ipynb", cell_id=first)
        _, events = await converse(api, upstream, read, cite, join)
        assert [status for status, _ in results(events)] == ["ok"] * 3, results(events)
        assert cell_texts(path)[:2] == [
            "See [@knuth1984; @harris2020].",
            "Arrays are fast [@harris2020].",
        ]
        await undo_all(api)
        assert json.loads(text_of(path))["cells"] == json.loads(before)["cells"]

    async def test_a_file_cites_in_its_syntax(
        self, api: Api, upstream: Simulator, bibliography: Path
    ) -> None:
        cases = {
            "a.md": ("Arrays are fast.\n", "Arrays are fast {cite}`harris2020`.\n"),
            "b.md": ("Old {cite:p}`x`. New.\n", "Old {cite:p}`x`. New {cite:p}`harris2020`.\n"),
            "a.qmd": ("A [@x]. Fast.\n", "A [@x]. Fast [@harris2020].\n"),
            "a.tex": ("Fast.\n", "Fast~\\cite{harris2020}.\n"),
        }
        folder = bibliography.parent
        calls: list[ToolUse] = []
        for name, (text, _) in cases.items():
            put_text(folder / name, text)
            calls.append(call("read_file", path=name))
            calls.append(call("cite_reference", key="harris2020", path=name))
        _, events = await converse(api, upstream, *calls)
        assert {status for status, _ in results(events)} == {"ok"}, results(events)
        assert {name: text_of(folder / name) for name in cases} == {
            name: expected for name, (_, expected) in cases.items()
        }
        await undo_all(api)
        assert {name: text_of(folder / name) for name in cases} == {
            name: text for name, (text, _) in cases.items()
        }

    async def test_what_cannot_be_cited_is_told(
        self, api: Api, upstream: Simulator, bibliography: Path
    ) -> None:
        folder = bibliography.parent
        put_text(folder / "a.md", "The tree.\n")
        put_notebook(folder / "a.ipynb", "Text")
        calls = [call("cite_reference", **arguments) for arguments, _ in UNCITABLE.values()]
        _, events = await converse(api, upstream, call("read_file", path="a.md"), *calls)
        (_, *answers) = results(events)
        for (name, (_, said)), (status, text) in zip(UNCITABLE.items(), answers, strict=True):
            assert (status, said in text) == ("error", True), (name, text)
        assert text_of(folder / "a.md") == "The tree.\n"

    async def test_code_cells_do_not_cite(
        self, api: Api, upstream: Simulator, bibliography: Path, jp_root_dir: Path
    ) -> None:
        *_, code = put_notebook(jp_root_dir / "a.ipynb", "Text")
        cite = call("cite_reference", key="harris2020", path="a.ipynb", cell_id=code)
        _, events = await converse(api, upstream, cite)
        ((status, text),) = results(events)
        assert status == "error"
        assert "only Markdown cells cite" in text
