"""What is made of the answers of a model that is asked several times at once."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from jupyter_ai_shoulders.assist.inline_completion.candidates import (
    TEMPERATURES,
    request_candidates,
)
from jupyter_ai_shoulders.assist.inline_completion.caret_window import cut_window
from jupyter_ai_shoulders.assist.inline_completion.prompt import CompletionContext
from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.core.errors import PolicyRefusal, ProviderError, ShouldersError
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.base import ModelRequest, ResolvedModel
from jupyter_ai_shoulders.testing.scripted_provider import ScriptedProvider
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId

SCENE = CompletionContext("a.py", "python", is_cell=False, text=cut_window("x = ", ""))
SPEC = ModelSpec(id=ModelId("m"), name="M", provider=ProviderId("p"), model="m", fill_in=True)
REFUSED = PolicyRefusal("The budget is used up.")
FAILED = ProviderError("M: it does not answer.", provider=ProviderId("p"), model="m")


def failing(error: ShouldersError) -> Callable[[ModelRequest], str]:
    def fail(request: ModelRequest) -> str:
        raise error

    return fail


async def texts(provider: ScriptedProvider, sent: list[int]) -> list[str]:
    """Return the drafts; ``sent`` hears how often the model is asked."""

    def sending(request: ModelRequest, calls: int) -> None:
        sent.append(calls)

    resolved, limits = ResolvedModel(SPEC, provider), ModelPreferences()
    return [text async for text in request_candidates(resolved, SCENE, limits, sending, few=False)]


@pytest.mark.parametrize(
    "errors",
    [(FAILED, REFUSED, REFUSED), (REFUSED, FAILED, REFUSED), (REFUSED, REFUSED, FAILED)],
    ids=["first", "second", "last"],
)
async def test_where_one_call_was_sent_and_failed_nobody_says_that_none_was(
    errors: tuple[ShouldersError, ...],
) -> None:
    sent: list[int] = []

    with pytest.raises(ProviderError):
        await texts(ScriptedProvider(*map(failing, errors)), sent)

    assert sent == [len(TEMPERATURES)]


async def test_where_all_calls_were_refused_that_is_said() -> None:
    with pytest.raises(PolicyRefusal):
        await texts(ScriptedProvider(*map(failing, [REFUSED] * 3)), [])


async def test_what_some_calls_answer_is_kept_where_others_fail() -> None:
    provider = ScriptedProvider("one", failing(FAILED), "two")

    assert sorted(await texts(provider, [])) == ["one", "two"]
