"""Unsaved text of pages that did not return: kept, offered, and removed only by an answer."""

import json

from jupyter_ai_shoulders.notebook.base import Applied
from jupyter_ai_shoulders.wire.frames import DocumentRecovery
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.notebooks import CellDelete, CellInsert
from tests.notebook.backends.live.harness import ORIGINAL, A, B, C, LiveHarness, MakeLiveHarness
from tests.notebook.fake_page import FakePage, MemoryRecovery


def texts(offer: DocumentRecovery) -> dict[str, tuple[str | None, str]]:
    """Return the base and the text of each cell."""
    return {cell.id: (cell.base, cell.source) for cell in offer.cells}


async def crashed(bench: LiveHarness) -> FakePage:
    """Return a page that typed into a cell, made a new one, and disconnected."""
    page = await bench.page("crashed")
    await page.type("aaaa", "a = 1  # typed")
    await page.insert(1, "dddd", "new = 1")
    page.vanish()
    return page


async def offered(bench: LiveHarness, name: str) -> tuple[FakePage, DocumentRecovery]:
    """Return a page that opens the notebook, and its only offer."""
    page = await bench.page(name)
    await bench.live.settle()
    [offer] = page.offers.values()
    return page, offer


async def test_page_that_opens_the_notebook_is_offered_what_another_had_not_saved(
    bench: LiveHarness,
) -> None:
    await crashed(bench)
    _, offer = await offered(bench, "next")
    assert offer.author == "user"
    assert texts(offer) == {"aaaa": ("a = 1", "a = 1  # typed"), "dddd": (None, "new = 1")}
    assert [cell.after for cell in offer.cells] == [None, "aaaa"]
    assert (await bench.sources()) == ORIGINAL


async def test_offer_ends_when_it_is_restored_and_not_before(bench: LiveHarness) -> None:
    await crashed(bench)
    page, offer = await offered(bench, "next")
    page.vanish()
    page, offer = await offered(bench, "third")
    await page.restore(offer)
    await bench.live.settle()
    assert page.offers == {}
    [copy] = bench.copies()
    assert (copy["client"], copy["left"]) == ("third", False)
    assert "a = 1  # typed" in json.dumps(copy)
    await page.save()
    await bench.live.settle()
    assert bench.copies() == []


async def test_offer_that_is_thrown_away_is_gone_in_every_page(bench: LiveHarness) -> None:
    await crashed(bench)
    first, offer = await offered(bench, "next")
    second, _ = await offered(bench, "third")
    await first.answer(offer, "discarded")
    await bench.live.settle()
    assert (first.offers, second.offers, bench.copies()) == ({}, {}, [])


async def test_offer_waits_for_ever_and_through_restarts(
    bench: LiveHarness, make_bench: MakeLiveHarness
) -> None:
    await crashed(bench)
    await bench.expire()
    assert bench.on_disk() == ORIGINAL
    await bench.live.aclose()
    again = make_bench(recovery=bench.recovery)
    await again.live.start()
    page, offer = await offered(again, "next")
    assert texts(offer)["aaaa"] == ("a = 1", "a = 1  # typed")
    await page.answer(offer, "discarded")
    await again.live.settle()
    assert again.copies() == []


async def test_server_that_was_killed_offers_what_it_had_been_told(
    bench: LiveHarness, make_bench: MakeLiveHarness
) -> None:
    await crashed(bench)
    await bench.live.settle()
    killed = MemoryRecovery()
    killed.texts = dict(bench.recovery.texts)
    again = make_bench(recovery=killed)
    await again.live.start()
    _, offer = await offered(again, "next")
    assert texts(offer)["aaaa"] == ("a = 1", "a = 1  # typed")


async def test_page_that_comes_back_is_not_offered_its_own_text(bench: LiveHarness) -> None:
    page = await crashed(bench)
    await bench.expire()
    other, _ = await offered(bench, "other")
    await page.open()
    await bench.live.settle()
    assert (page.offers, other.offers) == ({}, {})
    assert page.sources["aaaa"] == "a = 1  # typed"
    page.vanish()
    assert "a = 1  # typed" in (await bench.recovered())


async def test_offer_without_anything_new_is_forgotten(bench: LiveHarness) -> None:
    await crashed(bench)
    await bench.expire()
    content = json.loads(bench.file.read_text())
    content["cells"][0]["source"] = "a = 1  # typed"
    content["cells"].insert(1, {**content["cells"][0], "id": "dddd", "source": "new = 1"})
    bench.file.write_text(json.dumps(content))
    page = await bench.page("next")
    await bench.live.settle()
    assert (page.offers, bench.copies()) == ({}, [])


async def test_edits_of_the_agent_are_delivered_and_not_offered(bench: LiveHarness) -> None:
    page = await bench.page("crashed")
    await page.type("aaaa", "a = 1  # typed")
    await bench.edit(C, "c = 4", before="c = 3")
    page.vanish()
    await bench.edit(B, "# New", before="# Title")
    page, offer = await offered(bench, "next")
    assert page.sources == {**ORIGINAL, "bbbb": "# New", "cccc": "c = 4"}
    assert texts(offer) == {"aaaa": ("a = 1", "a = 1  # typed")}


async def test_edit_that_met_one_of_the_user_is_offered_to_the_page_that_is_back(
    bench: LiveHarness,
) -> None:
    page = await bench.page()
    await page.type("aaaa", "typed")
    page.vanish()
    await bench.edit(C, "c = 4", before="c = 3")
    await bench.edit(C, "c = 5", before="c = 4")
    page.change_silently("cccc", "c = 7")
    await page.open()
    await bench.live.settle()
    [offer] = page.offers.values()
    assert (offer.author, texts(offer)) == ("agent", {"cccc": ("c = 3", "c = 5")})
    assert page.sources["cccc"] == "c = 7"
    await page.restore(offer)
    await bench.live.settle()
    assert page.offers == {}
    assert [copy["left"] for copy in bench.copies()] == [False]


async def test_edit_on_unsaved_text_is_offered_with_that_text_alone(bench: LiveHarness) -> None:
    page = await bench.page("crashed")
    await page.type("cccc", "c = 3  # typed")
    await bench.edit(C, "c = 4  # typed", before="c = 3  # typed")
    page.vanish()
    await bench.expire()
    assert len(bench.copies()) == 2
    page, offer = await offered(bench, "next")
    assert (offer.author, texts(offer)) == ("user", {"cccc": ("c = 3", "c = 4  # typed")})
    await page.restore(offer)
    await page.save()
    await bench.live.settle()
    assert (page.offers, bench.copies()) == ({}, [])


async def test_offers_follow_a_renamed_notebook(bench: LiveHarness) -> None:
    await crashed(bench)
    page, _ = await offered(bench, "next")
    await page.rename("m.ipynb")
    bench.file = page.file
    _, offer = await offered(bench, "third")
    assert offer.path == "m.ipynb"
    assert texts(offer)["aaaa"] == ("a = 1", "a = 1  # typed")


async def test_page_that_slept_through_a_rename_has_its_notebook_again(bench: LiveHarness) -> None:
    other = await bench.page("other")
    asleep = await bench.page("asleep")
    await asleep.type("aaaa", "a = 1  # typed")
    asleep.vanish()
    await other.rename("m.ipynb")
    other.vanish()
    bench.file = other.file
    await bench.edit(C, "c = 4", before="c = 3")
    insert = CellInsert(cell_id=CellId("n"), cell_type="code", source="n", metadata={}, after=B)
    assert isinstance(await bench.router.open("n.ipynb").apply([insert], {}), Applied)
    await asleep.open()  # by the old name, which is all it knows
    await bench.live.settle()
    assert bench.live.owner("m.ipynb") == "asleep"
    assert bench.on_disk() == ORIGINAL
    assert asleep.sources == {**ORIGINAL, "aaaa": "a = 1  # typed", "cccc": "c = 4", "n": "n"}
    assert not (bench.file.parent / "n.ipynb").exists()


async def test_user_who_leaves_text_is_waited_for_longer_than_the_agent(bench: LiveHarness) -> None:
    page = await bench.page()
    await bench.edit(C, "c = 4", before="c = 3")
    page.vanish()
    await bench.clock.advance(11)
    await bench.live.settle()
    assert bench.on_disk()["cccc"] == "c = 4"
    page = await bench.page("next")
    await page.type("aaaa", "typed")
    await bench.edit(C, "c = 5", before="c = 4")
    page.vanish()
    await bench.clock.advance(590)
    await bench.live.settle()
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 5"}
    assert (await bench.sources())["aaaa"] == "typed"
    await bench.clock.advance(11)
    await bench.live.settle()
    assert (await bench.sources())["aaaa"] == ORIGINAL["aaaa"]
    assert bench.on_disk() == {**ORIGINAL, "cccc": "c = 5"}


async def test_cell_deleted_by_the_agent_is_not_offered_as_the_users(bench: LiveHarness) -> None:
    page = await bench.page("crashed")
    await page.type("aaaa", "typed")
    await bench.router.open("n.ipynb").apply([CellDelete(cell_id=B)], {})
    page.vanish()
    page, offer = await offered(bench, "next")
    assert list(texts(offer)) == [A]
    assert list(page.sources) == ["aaaa", "cccc"]
