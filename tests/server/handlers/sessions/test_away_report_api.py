"""A returning user sees a report until they dismiss it."""

from __future__ import annotations

import asyncio

import pytest

from jupyter_ai_shoulders.host.presence import away_report
from jupyter_ai_shoulders.host.presence.page_presence import PagePresence
from jupyter_ai_shoulders.wire.ids import ClientId
from tests.server.client import Api, PageClient
from tests.server.conftest import OpenPage
from tests.simulator import Simulator


async def connected(open_page: OpenPage, client_id: str) -> PageClient:
    """A page that said hello."""
    page = await open_page()
    page.hello(client_id=client_id)
    await page.until("welcome")
    return page


async def test_a_turn_without_a_page_is_told_until_it_is_dismissed(
    api: Api, open_page: OpenPage, upstream: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(away_report, "RELOAD_SECONDS", 0.0)
    upstream.script("Hello.", "Later.")
    session = await api.new_session()
    page = await connected(open_page, "one")
    await api.run(session, "Hello.")
    assert (await api.get("away")).body == {"report": None}
    page.close()
    other = await api.new_session()
    await api.run(other, "And now?", "m2")

    page = await connected(open_page, "two")
    report = (await api.get("away")).body["report"]
    assert (report["session_id"], report["state"]) == (
        other,
        "ended",
    )
    page.close()
    await connected(open_page, "three")
    assert (await api.get("away")).body["report"]["session_id"] == other
    assert (await api.delete("away")).status == 204
    assert (await api.get("away")).body == {"report": None}


async def test_a_page_is_there_until_its_connection_breaks_off(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a reload that breaks the connection."""
    silent: asyncio.Future[float] = asyncio.get_running_loop().create_future()

    def left(
        _presence: PagePresence, _user: str | None, _page: ClientId, seconds_ago: float
    ) -> None:
        silent.set_result(seconds_ago)

    monkeypatch.setattr(PagePresence, "left", left)
    page = await connected(open_page, "one")
    page.break_off()
    assert await silent == 0
