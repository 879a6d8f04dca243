"""The model of a case, scripted or real, which records its requests. Used by ``case_run``."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any, cast

from jupyter_ai_shoulders.evaluation.case import Case
from jupyter_ai_shoulders.providers.adapter_factory import make_provider
from jupyter_ai_shoulders.providers.base import (
    ListedModel,
    ModelRequest,
    Provider,
    ProviderEvent,
)
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider
from jupyter_ai_shoulders.wire.ids import ModelId

SCRIPTED = ModelId("scripted")
MAX_REQUESTS = 200
"""Most requests that a script function answers."""


def catalogue(case: Case) -> dict[str, Any]:
    """Return the configuration of the scripted model, in the form of ``models.json``."""
    provider = {"kind": "openai_chat", "url": "http://127.0.0.1:9/v1", "name": "Script"}
    model = {
        "id": SCRIPTED,
        "provider": SCRIPTED,
        "model": SCRIPTED,
        "context_window": case.window,
        "prices": {"input": 1_000_000, "output": 10_000_000},
    }
    return {"default": SCRIPTED, "providers": {SCRIPTED: provider}, "models": [model]}


class Adapters:
    """Creates the providers for a run of a case; the host calls it for each model it resolves."""

    def __init__(self, case: Case, before_request: Callable[[int], None]) -> None:
        """``before_request`` is called with the number of each request, from 1, before its answer.

        Only steps of turns are counted, not summaries and titles.
        """
        self.requests: list[ModelRequest] = []
        self._before_request = before_request
        script = case.script
        entries = [script] * MAX_REQUESTS if callable(script) else script
        self._script = ScriptedProvider(*entries)

    def __call__(self, target: Endpoint) -> Provider:
        """Return the scripted provider for the scripted model, else the model's own provider."""
        scripted = target.provider.id == SCRIPTED
        return _RecordingProvider(self._script if scripted else make_provider(target), self._note)

    def _note(self, request: ModelRequest) -> None:
        if request.account is not None and request.account.purpose == "turn":
            self.requests.append(request)
            self._before_request(len(self.requests))


class _RecordingProvider:
    """A provider that records its requests."""

    def __init__(self, provider: Provider, note: Callable[[ModelRequest], None]) -> None:
        self._provider = provider
        self._note = note

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        self._note(request)
        source = cast("AsyncGenerator[ProviderEvent]", self._provider.stream(request))
        async with aclosing(source) as events:
            async for event in events:
                yield event

    async def list_models(self) -> list[ListedModel]:
        return await self._provider.list_models()

    async def count_tokens(self, request: ModelRequest) -> int | None:
        return await self._provider.count_tokens(request)

    async def aclose(self) -> None:
        await self._provider.aclose()
