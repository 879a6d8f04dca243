"""The web services as the settings page shows them: keys, addresses and tests.

Made by ``host``, used by ``server.handlers.web_services``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import cast

from jupyter_ai_shoulders.core.errors import InvalidRequest, NotFound, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.web_services import (
    WEB_SERVICES,
    ServiceId,
    WebService,
    web_service,
)
from jupyter_ai_shoulders.guard.network.service_client import (
    ServiceClient,
    ServiceReply,
    ServiceRequest,
)
from jupyter_ai_shoulders.host.web.services import WebServices
from jupyter_ai_shoulders.web.papers.sources import SOURCES, PaperQuery
from jupyter_ai_shoulders.web.search.engines import ENGINES, WebQuery
from jupyter_ai_shoulders.web.service_answers import check_status
from jupyter_ai_shoulders.wire.api.web_services import (
    ServiceTest,
    WebServiceInfo,
    WebServiceList,
)

_KEY_PAGES: Mapping[ServiceId, str] = {
    "openalex": "https://openalex.org/settings/api",
    "exa": "https://dashboard.exa.ai/api-keys",
    "brave": "https://api-dashboard.search.brave.com/app/keys",
    "tavily": "https://app.tavily.com/home",
}
_PURPOSES: Mapping[ServiceId, str] = {
    "openalex": "Search of papers. A key is optional; it raises the limits.",
    "exa": "Search of the web, and of papers when OpenAlex does not answer.",
    "crossref": "Search of papers, DOIs, and notices of retractions.",
    "datacite": "DOIs of data and software.",
    "arxiv": "Preprints by their arXiv id.",
    "openlibrary": "Books by their ISBN.",
    "doi": "Whether a DOI still leads somewhere.",
    "brave": "Search of the web.",
    "tavily": "Search of the web.",
    "searxng": "Search of the web through your own server; it must answer in JSON.",
    "zotero": "Your library in Zotero on this computer, read-only.",
}
_PROBES: Mapping[ServiceId, ServiceRequest] = {
    "datacite": ServiceRequest("datacite", "/dois/10.5281/zenodo.3509134", fresh=True),
    "arxiv": ServiceRequest(
        "arxiv",
        "/api/query",
        {"id_list": "1706.03762"},
        {"Accept": "application/atom+xml"},
        fresh=True,
    ),
    "openlibrary": ServiceRequest(
        "openlibrary",
        "/api/books",
        {"bibkeys": "ISBN:9780262035613", "format": "json", "jscmd": "data"},
        fresh=True,
    ),
    "doi": ServiceRequest("doi", "/10.1038/nature14539", fresh=True),
    "zotero": ServiceRequest("zotero", "/api/users/0/items", {"limit": "1"}, fresh=True),
}
"""Requests that show whether a service answers; the others are asked as the tools ask them."""


class FreshClient:
    """A client that takes no stored answers."""

    def __init__(self, client: ServiceClient) -> None:
        self._client = client

    async def send(self, request: ServiceRequest) -> ServiceReply:
        """Call the service. Raises what ``ServiceClient.send`` raises."""
        return await self._client.send(
            ServiceRequest(
                request.service,
                request.path,
                request.params,
                request.headers,
                request.json,
                fresh=True,
                key_in=request.key_in,
            )
        )


class ServiceSettings:
    """Shows, changes and tests the web services."""

    def __init__(self, services: WebServices) -> None:
        self._services = services
        self._client = FreshClient(services)

    async def listing(self) -> WebServiceList:
        """Return all services; of keys, only whether they exist."""
        return await asyncio.to_thread(self._listing)

    def _listing(self) -> WebServiceList:
        return WebServiceList(
            services=tuple(self._info(service) for service in WEB_SERVICES),
            disabled=self._disabled(),
        )

    def _disabled(self) -> str | None:
        try:
            self._services.check_allowed()
        except PolicyRefusal as error:
            return error.info.message
        return None

    async def set_key(self, name: str, key: str | None) -> WebServiceInfo:
        """Store or remove the key of a service.

        Raises ``NotFound``, ``InvalidRequest``, ``Conflict`` (the environment has one),
        ``StateUnavailable``.
        """
        service = find_service(name)
        if service.key_variable is None:
            raise InvalidRequest(f"{service.title} takes no key.")
        keys = self._services.keys
        if key is None:
            await asyncio.to_thread(keys.remove, service.key_variable)
        else:
            await asyncio.to_thread(keys.set, service.key_variable, key)
        return await asyncio.to_thread(self._info, service)

    async def set_address(self, name: str, address: str | None) -> WebServiceInfo:
        """Store or remove the address of a service of the user's own.

        Raises ``NotFound``, ``InvalidRequest``, ``PolicyRefusal``, ``StateUnavailable``.
        """
        service = find_service(name)
        if not service.is_local:
            raise InvalidRequest(
                f"The address of {service.title} is not changed here.",
                hint="Set it in Shoulders.services of Jupyter's configuration.",
            )
        given = address and address.strip()
        await asyncio.to_thread(self._services.set_address, service.id, given or None)
        return await asyncio.to_thread(self._info, service)

    async def test(self, name: str) -> ServiceTest:
        """Ask a service something. Raises ``NotFound``, ``PolicyRefusal`` (switched off)."""
        service = find_service(name)
        if "library" not in service.kinds:
            self._services.check_allowed()
        try:
            message = await self._asked(service)
        except ShouldersError as error:
            return ServiceTest(ok=False, message=error.info.message, hint=error.info.hint)
        return ServiceTest(ok=True, message=message, hint=None)

    async def _asked(self, service: WebService) -> str:
        probe = _PROBES.get(service.id)
        if probe is not None:
            reply = await self._client.send(probe)
            if not (service.id == "doi" and 300 <= reply.status < 400):
                check_status(service.id, reply)
            return f"{service.title} answers."
        for engine in ENGINES:
            if engine.id == service.id:
                found = await engine.search(self._client, WebQuery("Jupyter", 1))
                return _counted(service, len(found))
        search = next(source.search for source in SOURCES if source.id == service.id)
        works = await search(self._client, PaperQuery("Jupyter notebooks", 1))
        return _counted(service, len(works.works))

    def _info(self, service: WebService) -> WebServiceInfo:
        key = (
            None if service.key_variable is None else self._services.keys.get(service.key_variable)
        )
        return WebServiceInfo(
            id=service.id,
            title=service.title,
            purpose=_PURPOSES[service.id],
            kinds=service.kinds,
            key_variable=service.key_variable,
            key_required=service.key_required,
            key_source=key.source if key else None,
            key_last4=key.last4 if key else None,
            key_url=_KEY_PAGES.get(service.id),
            address=self._services.address(service.id),
            address_editable=service.is_local,
            address_locked=self._services.is_locked(service.id),
        )


def find_service(name: str) -> WebService:
    """Return the service of this id. Raises ``NotFound``."""
    if not any(service.id == name for service in WEB_SERVICES):
        raise NotFound(f"There is no web service {name!r}.")
    return web_service(cast("ServiceId", name))


def _counted(service: WebService, count: int) -> str:
    return f"{service.title} answers." if count else f"{service.title} answers, but found nothing."
