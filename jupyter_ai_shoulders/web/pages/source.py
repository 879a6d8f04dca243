"""Public pages through the network filter, loaded when the first page is fetched.

``httpx`` takes a tenth of a second to import, so neither the start nor the event loop waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jupyter_ai_shoulders.guard.network.fetch import FetchGuard, FetchResult

SIZE = 5 << 20
SECONDS = 20.0


def default_guard() -> FetchGuard:
    """Return the filter with the limits of a page: 5 MB, 20 s."""
    from jupyter_ai_shoulders.guard.network.fetch import FetchGuard, FetchLimits

    return FetchGuard(limits=FetchLimits(size=SIZE, seconds=SECONDS))


class PublicPages:
    """``PageSource`` over ``FetchGuard``."""

    def __init__(
        self,
        check_host: Callable[[str], None] = lambda _: None,
        make_guard: Callable[[], FetchGuard] = default_guard,
    ) -> None:
        """``check_host`` raises ``PolicyRefusal`` for hosts that a rule denies, also behind a
        redirect.
        """
        self._check_host = check_host
        self._make_guard = make_guard
        self._guard: FetchGuard | None = None

    async def check(self, url: str) -> str:
        """Return the host of a URL that may be fetched; connects nowhere."""
        await self._loaded()
        from jupyter_ai_shoulders.guard.network.fetch import validate_url

        return validate_url(url).raw_host.decode("ascii").removesuffix(".")

    async def fetch(self, url: str) -> FetchResult:
        """Get a page."""
        guard = await self._loaded()
        return await guard.fetch(url, check_host=self._check_host)

    async def _loaded(self) -> FetchGuard:
        if self._guard is None:
            self._guard = await asyncio.to_thread(self._make_guard)
        return self._guard
