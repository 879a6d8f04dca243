"""Answers a page's requests for suggestions; made by ``host.build``, used by the completions
handler.

Every failure becomes a result without suggestions, never an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Hashable
from dataclasses import dataclass
from typing import Protocol

from jupyter_ai_shoulders.assist.inline_completion.cache import (
    CachedSuggestions,
    CacheKey,
    SuggestionCache,
)
from jupyter_ai_shoulders.assist.inline_completion.candidates import (
    UnusableAnswer,
    request_candidates,
)
from jupyter_ai_shoulders.assist.inline_completion.empty_reasons import (
    empty_result,
    empty_result_for_error,
)
from jupyter_ai_shoulders.assist.inline_completion.prompt import CompletionContext
from jupyter_ai_shoulders.assist.inline_completion.ranking import rank_suggestions
from jupyter_ai_shoulders.assist.inline_completion.request_log import CompletionRequestLog
from jupyter_ai_shoulders.assist.inline_completion.suggestion_schema import MAX_SUGGESTIONS
from jupyter_ai_shoulders.assist.inline_completion.trimming import comparison_key, trim_suggestion
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ShouldersError
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.base import ModelRequest, ResolvedModel
from jupyter_ai_shoulders.providers.catalogue.model_selection import Strategy
from jupyter_ai_shoulders.wire.api.completions import (
    CompletionEnd,
    CompletionSuggestion,
    CompletionTrigger,
    RequestCompletions,
)
from jupyter_ai_shoulders.wire.api.settings import CompletionSettings
from jupyter_ai_shoulders.wire.ids import ModelId

_log = logging.getLogger(__name__)

CompletionUpdate = CompletionSuggestion | CompletionEnd


class PrivateContent(Exception):
    """Raised where the text at the caret must not be sent; the message says why."""


class CompletionContextSource(Protocol):
    """Provides the context of a caret; implemented by ``host.inline_completion.context``."""

    async def context(self, command: RequestCompletions) -> CompletionContext:
        """Return the context that may be sent. Raises ``PrivateContent``."""
        ...


class CompletionModels(Protocol):
    """Selects the model for suggestions; implemented by ``providers.registry``."""

    def by_strategy(self, strategy: Strategy) -> ModelId:
        """Return the model. Raises ``ShouldersError`` where none can answer."""
        ...

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return the model. Raises ``ShouldersError``."""
        ...


@dataclass(slots=True)
class _ActiveRequest:
    """One request in progress."""

    command: RequestCompletions
    owner: str | None
    task: asyncio.Task[CompletionEnd]

    @property
    def slot(self) -> Hashable:
        """The slot in which a newer request cancels this one."""
        return completion_slot(self.command, self.owner)


def completion_slot(command: RequestCompletions, owner: str | None) -> Hashable:
    """Return the slot of a request: one per page or, without a page, per document."""
    return owner, command.client_id or f"path:{command.path}"


class CompletionService:
    """Answers requests for suggestions; call ``aclose`` when done."""

    def __init__(
        self,
        models: CompletionModels,
        contexts: CompletionContextSource,
        preferences: Callable[[], ModelPreferences],
        settings: Callable[[], CompletionSettings],
        request_log: CompletionRequestLog,
    ) -> None:
        self._models = models
        self._contexts = contexts
        self._preferences = preferences
        self._settings = settings
        self.request_log = request_log
        """The requests that were sent to models."""
        self._cache = SuggestionCache()
        self._running: dict[asyncio.Task[CompletionEnd], _ActiveRequest] = {}

    async def suggest(
        self, command: RequestCompletions, owner: str | None = None
    ) -> AsyncGenerator[CompletionUpdate]:
        """Yield suggestions as they arrive, then the final ranked list.

        Closing the generator, ``cancel`` and a newer request of the same page end the call to the
        provider.
        """
        self._cancel_older(command, owner)
        events: asyncio.Queue[CompletionUpdate | None] = asyncio.Queue()
        task = asyncio.create_task(
            _CompletionRun(self, command, owner, events.put_nowait).run(), name="shoulders-ghost"
        )
        self._running[task] = _ActiveRequest(command, owner, task)
        task.add_done_callback(lambda _: events.put_nowait(None))
        try:
            while (event := await events.get()) is not None:
                yield event
            yield (
                empty_result(command.request_id, "cancelled") if task.cancelled() else task.result()
            )
        finally:
            del self._running[task]
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    def cancel(self, request_id: str, owner: str | None = None) -> None:
        """Cancel a request that is in progress."""
        for work in self._running.values():
            if work.command.request_id == request_id and work.owner == owner:
                work.task.cancel()

    async def aclose(self) -> None:
        """Cancel all requests."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # Dependencies of a run

    def is_on(self, trigger: CompletionTrigger) -> bool:
        """Return whether the settings enable this trigger."""
        settings = self._settings()
        allowed = {"plus": settings.enabled_plus, "automatic": settings.automatic}
        return allowed.get(trigger, True)

    async def context(self, command: RequestCompletions) -> CompletionContext:
        """Return the context that may be sent. Raises ``PrivateContent``."""
        return await self._contexts.context(command)

    def model(self) -> ResolvedModel:
        """Return the model for suggestions. Raises ``ShouldersError``."""
        return self._models.resolve(self._models.by_strategy("ghost"))

    @property
    def cache(self) -> SuggestionCache:
        """The cache of earlier suggestions."""
        return self._cache

    @property
    def limits(self) -> ModelPreferences:
        """The limits of single calls."""
        return self._preferences()

    def _cancel_older(self, command: RequestCompletions, owner: str | None) -> None:
        place = completion_slot(command, owner)
        for work in self._running.values():
            if work.slot == place:
                work.task.cancel()


class _CompletionRun:
    """Answers one request."""

    def __init__(
        self,
        service: CompletionService,
        command: RequestCompletions,
        owner: str | None,
        send: Callable[[CompletionSuggestion], None],
    ) -> None:
        self._service = service
        self._command = command
        self._owner = owner
        self._send = send
        self._texts: list[str] = []
        self._seen_keys: set[str] = set()

    async def run(self) -> CompletionEnd:
        command = self._command
        if not self._service.is_on(command.trigger):
            return empty_result(command.request_id, "disabled")
        try:
            context = await self._service.context(command)
        except PrivateContent as refusal:
            return empty_result(command.request_id, "private", str(refusal))
        try:
            resolved = self._service.model()
        except ShouldersError as error:
            return empty_result_for_error(command.request_id, error, None)
        return await self._suggest(resolved, context)

    async def _suggest(self, resolved: ResolvedModel, context: CompletionContext) -> CompletionEnd:
        """Return cached suggestions, else those of the model."""
        model = resolved.spec.id
        key = _cache_key(self._command, context, resolved)
        kept = self._service.cache.find(key)
        if kept is not None:
            return self._end(kept.suggestions, model)
        try:
            await self._request_suggestions(resolved, context)
        except ShouldersError as error:
            _log.info("No suggestions from %s: %s", model, error)
            if isinstance(error, PolicyRefusal):
                self._service.request_log.forget(self._command, self._owner)
            return empty_result_for_error(self._command.request_id, error, model)
        except (UnusableAnswer, TimeoutError) as error:
            _log.info("No suggestions from %s: %s", model, error or "the answer is unusable")
            slow = isinstance(error, TimeoutError)
            return self._nothing(model) if not slow else self._too_slow(resolved)
        found = rank_suggestions(
            self._texts, self._command.prefix, self._command.suffix, context.language
        )
        if not found:
            return self._nothing(model)
        self._service.cache.store(key, CachedSuggestions(tuple(found), model))
        return self._end(tuple(found), model)

    async def _request_suggestions(
        self, resolved: ResolvedModel, context: CompletionContext
    ) -> None:
        """Send each suggestion to the page as it arrives.

        Raises ``UnusableAnswer``, ``TimeoutError`` and others.
        """
        limits = self._service.limits
        few = self._command.trigger == "automatic"

        def sending(request: ModelRequest, calls: int) -> None:
            self._service.request_log.add(self._command, self._owner, resolved, request, calls)

        source = request_candidates(resolved, context, limits, sending, few=few, owner=self._owner)
        async with asyncio.timeout(limits.single_call_timeout_s), contextlib.aclosing(source):
            async for raw in source:
                self._take(raw)

    def _take(self, raw: str) -> None:
        text = trim_suggestion(raw, self._command.prefix, self._command.suffix)
        if (
            text is None
            or comparison_key(text) in self._seen_keys
            or len(self._texts) == MAX_SUGGESTIONS
        ):
            return
        self._seen_keys.add(comparison_key(text))
        suggestion = CompletionSuggestion(
            request_id=self._command.request_id, index=len(self._texts), text=text
        )
        self._texts.append(text)
        self._send(suggestion)

    def _end(self, suggestions: tuple[str, ...], model: ModelId) -> CompletionEnd:
        return CompletionEnd(
            request_id=self._command.request_id,
            suggestions=suggestions,
            model=model,
            reason=None,
            message=None,
        )

    def _nothing(self, model: ModelId) -> CompletionEnd:
        return empty_result(self._command.request_id, "nothing", model=model)

    def _too_slow(self, resolved: ResolvedModel) -> CompletionEnd:
        seconds = f"{self._service.limits.single_call_timeout_s:g}"
        message = f"{resolved.spec.name}: no suggestions came within {seconds} seconds."
        return empty_result(self._command.request_id, "provider_down", message, resolved.spec.id)


def _cache_key(
    command: RequestCompletions, context: CompletionContext, resolved: ResolvedModel
) -> CacheKey:
    """Return the cache key of a request."""
    place = (command.path, command.cell_id, context.language, resolved.spec.id)
    return CacheKey(
        command.prefix, command.suffix, (place, context.fingerprint, context.instructions)
    )
