"""Searches the web through the first service that is set up and answers.

Made by ``host``, used by the tool ``web_search``.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from jupyter_ai_shoulders.core.errors import Conflict, InvalidRequest, PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.web_services import ServiceId, web_service
from jupyter_ai_shoulders.guard.network.service_client import ServiceClient
from jupyter_ai_shoulders.web.search.engines import ENGINES, SearchEngine, WebQuery
from jupyter_ai_shoulders.wire.api.web_services import WebResult

NOT_SET_UP = "No service for web search is set up."
HOW_TO = (
    "Tell the user: set EXA_API_KEY, BRAVE_API_KEY or TAVILY_API_KEY, or give the address of a "
    "SearXNG server, in the AI settings under Web services."
)

IsSetUp = Callable[[ServiceId], Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class WebFindings:
    """The results, and what failed before a service answered."""

    source: str
    results: tuple[WebResult, ...]
    notes: tuple[str, ...] = ()


class WebSearcher:
    """Asks the services in their order."""

    def __init__(
        self,
        client: ServiceClient,
        is_set_up: IsSetUp,
        engines: Sequence[SearchEngine] = ENGINES,
    ) -> None:
        """``is_set_up``: whether a service has its key or address."""
        self._client = client
        self._is_set_up = is_set_up
        self._engines = engines

    async def search(self, query: WebQuery) -> WebFindings:
        """Return the results of the first service that answers.

        Raises ``InvalidRequest`` (``no_key``: none is set up), ``Conflict`` (all failed),
        ``PolicyRefusal`` (switched off).
        """
        failed: list[ShouldersError] = []
        for engine in self._engines:
            if not await self._is_set_up(engine.id):
                continue
            try:
                results = await engine.search(self._client, query)
            except ShouldersError as error:
                if isinstance(error, PolicyRefusal) and error.info.code == "disabled":
                    raise
                failed.append(error)
                continue
            title = web_service(engine.id).title
            return WebFindings(title, results, tuple(error.info.message for error in failed))
        if not failed:
            raise InvalidRequest(NOT_SET_UP, code="no_key", hint=HOW_TO)
        raise all_failed("No service for web search answered", failed)


def all_failed(what: str, failed: Sequence[ShouldersError]) -> ShouldersError:
    """Return one error with each reason and each hint."""
    if len(failed) == 1:
        return failed[0]
    reasons = " ".join(error.info.message for error in failed)
    hints = dict.fromkeys(error.info.hint for error in failed if error.info.hint)
    return Conflict(
        f"{what}: {reasons}",
        code="provider_error",
        hint=" ".join(hints) or None,
        retryable=any(error.info.retryable for error in failed),
        failures=[error.info.model_dump(mode="json") for error in failed],
    )
