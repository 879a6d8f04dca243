"""Proposals on files, and changes made in the meantime."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from jupyter_ai_shoulders.changes.proposals.service import ProposalService
from jupyter_ai_shoulders.core.errors import Conflict
from jupyter_ai_shoulders.testing.memory_notebooks import (
    MemoryNotebook,
    MemoryNotebooks,
    ScriptedRunner,
    memory_cell,
)
from jupyter_ai_shoulders.testing.memory_store import CountingIds, MemoryStore
from jupyter_ai_shoulders.wire.api.commands import DecideProposal
from jupyter_ai_shoulders.wire.edits import Proposal, ProposalState
from jupyter_ai_shoulders.wire.events import ProposalAdd
from jupyter_ai_shoulders.wire.ids import CellId, ProposalId
from tests.engine.engine_harness import SESSION, make_session
from tests.files.file_workspace import FileWorkspace, file_workspace
from tests.support.proposals import build_proposal

BEFORE = "one\ntwo\nthree\n"
AFTER = "one\nTWO\nthree\n"
BOOK = "a.ipynb"


class ProposalHarness:
    """A file and a cell with the same proposal."""

    def __init__(self, files: FileWorkspace) -> None:
        self.files = files
        self.store = MemoryStore()
        self.store.add(make_session())
        self.notebook = MemoryNotebook(BOOK, [memory_cell("c", BEFORE)])
        self.proposals = ProposalService(
            self.store,
            MemoryNotebooks(self.notebook),
            ScriptedRunner(),
            CountingIds(),
            texts=files.texts,
        )
        files.write("x.txt", BEFORE.replace("\n", "\r\n"))
        self.add("file", "x.txt", None)
        self.add("cell", BOOK, CellId("c"))

    def add(self, name: str, document: str, cell_id: CellId | None) -> None:
        proposal = build_proposal(SESSION, document, cell_id, BEFORE, AFTER, name=name)
        self.store.append(SESSION, ProposalAdd(call_id=None, proposal=proposal))

    async def apply(
        self, name: str, text: str | None = None, base: str | None = None
    ) -> ProposalState:
        command = DecideProposal(decision="apply", text=text, base=base)
        return (await self.proposals.decide(ProposalId(name), command)).state

    def open_ones(self) -> list[Proposal]:
        return [proposal for proposal in self.proposals.list() if proposal.state == "proposed"]


@pytest.fixture
def harness(tmp_path: Path) -> Iterator[ProposalHarness]:
    with file_workspace(tmp_path) as files:
        yield ProposalHarness(files)


async def test_a_proposal_on_a_file_is_applied_and_logged(harness: ProposalHarness):
    assert await harness.apply("file") == "applied"

    assert harness.files.read("x.txt") == AFTER.replace("\n", "\r\n").encode()
    (row,) = harness.files.journal.rows.values()
    assert (row.state, row.change.origin.by) == ("done", "user")


async def test_an_edited_version_is_applied_instead(harness: ProposalHarness):
    assert await harness.apply("file", "mine\n") == "edited"
    assert harness.files.read("x.txt") == b"mine\r\n"


async def test_lines_that_were_changed_beside_the_proposal_stay(harness: ProposalHarness):
    harness.files.write("x.txt", "ONE\r\ntwo\r\nthree\r\n")
    harness.notebook.type_into("c", "ONE\ntwo\nthree\n")

    assert (await harness.apply("file"), await harness.apply("cell")) == ("edited", "edited")

    assert harness.files.read("x.txt") == b"ONE\r\nTWO\r\nthree\r\n"
    assert harness.notebook.cell("c").source == "ONE\nTWO\nthree\n"


async def test_lines_that_both_changed_make_a_new_proposal(harness: ProposalHarness):
    harness.files.write("x.txt", "one\nzwei\nthree\n")

    assert await harness.apply("file") == "conflict"

    assert harness.files.read("x.txt") == b"one\nzwei\nthree\n"
    again = next(proposal for proposal in harness.open_ones() if proposal.document == "x.txt")
    assert (again.new, again.current) == (AFTER, "one\nzwei\nthree\n")
    assert again.reason == "The file was changed before the proposal was applied."
    assert await harness.apply(again.id, AFTER, again.current) == "applied"
    assert harness.files.read("x.txt") == AFTER.encode()


async def test_a_proposal_on_a_file_that_is_gone_is_stale(harness: ProposalHarness):
    (harness.files.root / "x.txt").unlink()

    assert await harness.apply("file") == "stale"


async def test_a_host_without_files_says_that_it_cannot(harness: ProposalHarness):
    bare = ProposalService(
        harness.store, MemoryNotebooks(harness.notebook), ScriptedRunner(), CountingIds()
    )
    with pytest.raises(Conflict):
        await bare.decide(ProposalId("file"), DecideProposal(decision="apply"))
