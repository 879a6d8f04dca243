"""A value that is slow to fetch and valid for seconds. Used by ``host.context.environment``."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

from jupyter_ai_shoulders.core.clock import Clock

AnswerT = TypeVar("AnswerT")


class CachedValue(Generic[AnswerT]):
    """Fetches the value in a thread, one fetch at a time; call ``aclose`` at the end.

    Callers within ``good_for`` seconds get the last value at once. Later callers wait for a new
    one, at most ``timeout`` seconds if an older value exists.
    """

    def __init__(
        self,
        fetch: Callable[[], AnswerT],
        clock: Clock,
        *,
        good_for: float = 5.0,
        timeout: float = 0.3,
    ) -> None:
        self._fetch = fetch
        self._clock = clock
        self._good_for = good_for
        self._timeout = timeout
        self._task: asyncio.Task[AnswerT] | None = None
        self._known: tuple[AnswerT, float] | None = None
        """The last value, and when its fetch started."""

    @property
    def is_good(self) -> bool:
        """Whether ``value`` returns at once."""
        return self._known is not None and self._age(self._known[1]) <= self._good_for

    async def value(self) -> AnswerT:
        """Return the value. Raises what fetching raises if there is no older value."""
        if self._known is not None and self.is_good:
            return self._known[0]
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._refresh())
        task = self._task
        patience = None if self._known is None else self._timeout
        done, _ = await asyncio.wait({task}, timeout=patience)
        if done or self._known is None:
            return task.result()
        return self._known[0]

    async def aclose(self) -> None:
        """Wait for a running fetch and discard its result."""
        if self._task is not None:
            await asyncio.wait({self._task})

    async def _refresh(self) -> AnswerT:
        asked = self._clock.monotonic()
        answer = await asyncio.to_thread(self._fetch)
        self._known = (answer, asked)
        return answer

    def _age(self, since: float) -> float:
        return self._clock.monotonic() - since
