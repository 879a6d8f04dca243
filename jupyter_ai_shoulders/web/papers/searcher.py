"""Searches papers in the first source that answers, and says what is missing otherwise.

Made by ``host``, used by the tool ``search_papers``.
"""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.core.errors import PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.web_services import web_service
from jupyter_ai_shoulders.guard.network.service_client import ServiceClient
from jupyter_ai_shoulders.web.papers.sources import SOURCES, PaperQuery, PaperSource
from jupyter_ai_shoulders.web.search.searcher import all_failed
from jupyter_ai_shoulders.wire.api.web_services import PaperSearch


class PaperSearcher:
    """Asks the sources in their order."""

    def __init__(self, client: ServiceClient, sources: Sequence[PaperSource] = SOURCES) -> None:
        self._client = client
        self._sources = sources

    async def search(self, query: PaperQuery) -> PaperSearch:
        """Return the works of the first source that answers.

        Raises ``Conflict`` (all failed, with each reason), ``PolicyRefusal`` (switched off).
        """
        failed: list[ShouldersError] = []
        for source in self._sources:
            try:
                found = await source.search(self._client, query)
            except ShouldersError as error:
                if isinstance(error, PolicyRefusal) and error.info.code == "disabled":
                    raise
                failed.append(error)
                continue
            title = web_service(source.id).title
            return PaperSearch(
                query=query.text,
                source=title,
                total=found.total,
                works=found.works,
                notes=_notes(source, query, failed),
            )
        raise all_failed("No service for papers answered", failed)


def _notes(
    source: PaperSource, query: PaperQuery, failed: Sequence[ShouldersError]
) -> tuple[str, ...]:
    notes = [error.info.message for error in failed]
    if source.lacks is not None:
        notes.append(f"These are results of {web_service(source.id).title}: {source.lacks}.")
        if query.open_access:
            notes.append("Whether these works are open access was not checked.")
    return tuple(notes)
