"""The library of a running Zotero, read-only, through its local API.

https://www.zotero.org/support/dev/web_api/v3/basics (fields, ``q``, ``Total-Results``); the desktop
program answers the same requests for user 0 at http://127.0.0.1:23119/api, and 403 while its
setting "Allow other applications" is off.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from jupyter_ai_shoulders.core.errors import NotFound, ShouldersError
from jupyter_ai_shoulders.guard.network.service_client import (
    ServiceClient,
    ServiceReply,
    ServiceRequest,
)
from jupyter_ai_shoulders.references.json_reading import json_list, mapping, mappings, text
from jupyter_ai_shoulders.wire.api.references import Reference, ZoteroStatus

KEPT_SECONDS = 20.0
"""How long an answer is used again."""
SHOWN_ITEMS = 50
_ITEMS = "/api/users/0/items"
_YEAR = re.compile(r"\d{4}")
_CITATION_KEY = re.compile(r"^Citation Key:\s*(\S+)", re.MULTILINE | re.IGNORECASE)
_TYPES = {
    "journalArticle": "article",
    "book": "book",
    "bookSection": "incollection",
    "conferencePaper": "inproceedings",
    "thesis": "phdthesis",
    "report": "techreport",
    "preprint": "misc",
    "webpage": "misc",
    "computerProgram": "software",
    "dataset": "dataset",
}
_VENUES = ("publicationTitle", "bookTitle", "proceedingsTitle", "publisher", "university")


@dataclass(frozen=True, slots=True)
class ZoteroItems:
    """The items that match a query."""

    status: ZoteroStatus
    references: tuple[Reference, ...] = ()


_ABSENT = ZoteroItems(ZoteroStatus(running=False, items=0, problem=""))


class ZoteroLibrary:
    """Reads the library of the Zotero on this machine."""

    def __init__(self, client: ServiceClient, now: Callable[[], float]) -> None:
        self._client = client
        self._now = now
        self._answers: dict[str, tuple[float, ZoteroItems]] = {}
        self._item_keys: dict[str, str] = {}

    async def search(self, query: str) -> ZoteroItems:
        """Return the items that match; a Zotero that does not run is no error."""
        kept = self._answers.get(query)
        if kept is not None and self._now() - kept[0] < KEPT_SECONDS:
            return kept[1]
        found = await self._ask(query)
        if len(self._answers) > 50:
            self._answers.clear()
        self._answers[query] = (self._now(), found)
        return found

    async def bibtex(self, key: str) -> str | None:
        """Return an item as Zotero exports it; None if there is none. Raises ``ShouldersError``."""
        item = self._item_keys.get(key)
        if item is None:
            return None
        path = f"{_ITEMS}/{item}"
        reply = await self._client.send(
            ServiceRequest("zotero", path, {"format": "bibtex"}, _HEADERS, fresh=True)
        )
        return reply.content.decode("utf-8", "replace").strip() if reply.status == 200 else None

    async def _ask(self, query: str) -> ZoteroItems:
        params = {"format": "json", "limit": str(SHOWN_ITEMS), "sort": "title"}
        if query:
            params |= {"q": query, "qmode": "titleCreatorYear"}
        try:
            request = ServiceRequest("zotero", f"{_ITEMS}/top", params, _HEADERS, fresh=True)
            reply = await self._client.send(request)
        except NotFound:
            return _ABSENT
        except ShouldersError as error:
            return ZoteroItems(ZoteroStatus(running=True, items=0, problem=str(error)))
        if reply.status == 403:
            problem = (
                "Zotero does not let other programs read its library."
                " Allow it in Zotero's settings, under Advanced."
            )
            return ZoteroItems(ZoteroStatus(running=True, items=0, problem=problem))
        if reply.status != 200:
            problem = f"Zotero answered with the status {reply.status}."
            return ZoteroItems(ZoteroStatus(running=True, items=0, problem=problem))
        return self._items(reply)

    def _items(self, reply: ServiceReply) -> ZoteroItems:
        references: list[Reference] = []
        for item in mappings(json_list(reply.content))[:SHOWN_ITEMS]:
            data = mapping(item.get("data"))
            reference = _reference(data)
            if reference is not None:
                self._item_keys[reference.key] = text(data, "key")
                references.append(reference)
        total = reply.headers.get("total-results", "")
        count = int(total) if total.isdigit() else len(references)
        status = ZoteroStatus(running=True, items=count, problem="")
        return ZoteroItems(status, tuple(references))


_HEADERS: Mapping[str, str] = {"Zotero-API-Version": "3"}


def _reference(data: Mapping[str, Any]) -> Reference | None:
    item_key, kind = text(data, "key"), text(data, "itemType")
    if not item_key or kind in {"attachment", "note", "annotation"}:
        return None
    pinned = _CITATION_KEY.search(text(data, "extra"))
    year = _YEAR.search(text(data, "date"))
    names = (_creator(creator) for creator in mappings(cast("object", data.get("creators"))))
    return Reference(
        key=text(data, "citationKey") or (pinned[1] if pinned else item_key),
        type=_TYPES.get(kind, "misc"),
        file="",
        line=None,
        title=text(data, "title"),
        authors=tuple(name for name in names if name),
        year=year[0] if year else "",
        venue=next((text(data, name) for name in _VENUES if text(data, name)), ""),
        doi=text(data, "DOI"),
        url=text(data, "url"),
        pdf="",
        unverified="",
        is_duplicate=False,
    )


def _creator(creator: Mapping[str, Any]) -> str:
    parts = (text(creator, "firstName"), text(creator, "lastName"), text(creator, "name"))
    return " ".join(part for part in parts if part)
