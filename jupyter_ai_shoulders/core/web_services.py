"""The public web services that tools use: their names, default addresses and key variables.

An administrator or a user can give a service another base address (a mirror, an own SearXNG, a test
server). Addresses are facts of the services' documentation, cited at each one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

ServiceId = Literal[
    "openalex",
    "exa",
    "crossref",
    "datacite",
    "arxiv",
    "openlibrary",
    "doi",
    "brave",
    "tavily",
    "searxng",
    "zotero",
]
ServiceKind = Literal["papers", "web_search", "register", "library"]


@dataclass(frozen=True, slots=True)
class WebService:
    """A service; ``base_url`` without a final slash, empty where the user must give one.

    ``key_variable`` is the environment variable of its key, None where it takes none;
    ``min_interval`` the seconds between two requests that its rules ask for.
    """

    id: ServiceId
    title: str
    kinds: tuple[ServiceKind, ...]
    base_url: str
    key_variable: str | None = None
    key_required: bool = False
    min_interval: float = 0.0
    is_local: bool = False
    """Whether it runs on this machine or in the user's network, so its address may be private."""


WEB_SERVICES: tuple[WebService, ...] = (
    # https://docs.openalex.org: 10 requests a second, key as `api_key`
    WebService(
        id="openalex",
        title="OpenAlex",
        kinds=("papers",),
        base_url="https://api.openalex.org",
        key_variable="OPENALEX_API_KEY",
        min_interval=0.1,
    ),
    # https://docs.exa.ai: key in `x-api-key`
    WebService(
        id="exa",
        title="Exa",
        kinds=("papers", "web_search"),
        base_url="https://api.exa.ai",
        key_variable="EXA_API_KEY",
        key_required=True,
        min_interval=0.2,
    ),
    # https://www.crossref.org/documentation/retrieve-metadata/rest-api: polite pool, no key
    WebService(
        id="crossref",
        title="Crossref",
        kinds=("papers", "register"),
        base_url="https://api.crossref.org",
        min_interval=0.1,
    ),
    # https://support.datacite.org/docs/api
    WebService(
        id="datacite",
        title="DataCite",
        kinds=("register",),
        base_url="https://api.datacite.org",
        min_interval=0.1,
    ),
    # https://info.arxiv.org/help/api/user-manual.html: one request each three seconds
    WebService(
        id="arxiv",
        title="arXiv",
        kinds=("register",),
        base_url="https://export.arxiv.org",
        min_interval=3.0,
    ),
    # https://openlibrary.org/developers/api
    WebService(
        id="openlibrary",
        title="Open Library",
        kinds=("register",),
        base_url="https://openlibrary.org",
        min_interval=0.35,
    ),
    # https://www.doi.org/the-identifier/resources/factsheets/doi-resolution-documentation
    WebService(
        id="doi",
        title="doi.org",
        kinds=("register",),
        base_url="https://doi.org",
        min_interval=0.1,
    ),
    # https://api-dashboard.search.brave.com/app/documentation: key in `X-Subscription-Token`
    WebService(
        id="brave",
        title="Brave Search",
        kinds=("web_search",),
        base_url="https://api.search.brave.com",
        key_variable="BRAVE_API_KEY",
        key_required=True,
        min_interval=1.0,
    ),
    # https://docs.tavily.com: key as bearer token
    WebService(
        id="tavily",
        title="Tavily",
        kinds=("web_search",),
        base_url="https://api.tavily.com",
        key_variable="TAVILY_API_KEY",
        key_required=True,
        min_interval=0.2,
    ),
    # https://docs.searxng.org/dev/search_api.html: each runs its own
    WebService(
        id="searxng",
        title="SearXNG",
        kinds=("web_search",),
        base_url="",
        min_interval=0.2,
        is_local=True,
    ),
    # https://www.zotero.org/support/dev/web_api/v3/start: the desktop program's local API
    WebService(
        id="zotero",
        title="Zotero",
        kinds=("library",),
        base_url="http://127.0.0.1:23119",
        is_local=True,
    ),
)

KEY_VARIABLES: frozenset[str] = frozenset(
    service.key_variable for service in WEB_SERVICES if service.key_variable is not None
)
"""Environment variables that hold keys of services."""


def web_service(service_id: ServiceId) -> WebService:
    """Return the service of this id."""
    return next(service for service in WEB_SERVICES if service.id == service_id)
