"""Requests that the model refuses: efforts, summaries, sampling, sizes.

Called by ``endpoint`` after the rules of the conversation.
"""

from __future__ import annotations

from collections.abc import Callable

from tests.simulator.openai_responses.models import ResponsesModel
from tests.simulator.openai_responses.schema import InputTokensBody, ResponsesBody
from tests.simulator.refusal import RequestRefused


def effort_of(body: InputTokensBody, model: ResponsesModel) -> str:
    """Return the reasoning effort in force."""
    stated = body.reasoning.effort if body.reasoning else None
    return stated or model.default_effort


def unsupported(param: str) -> RequestRefused:
    """Return the refusal of a parameter this model does not have."""
    return RequestRefused(
        f"Unsupported parameter: '{param}' is not supported with this model.",
        param=param,
        code="unsupported_parameter",
    )


def check_effort(body: InputTokensBody, model: ResponsesModel) -> None:
    """Efforts and summaries are ones the model knows."""
    if body.reasoning is None:
        return
    for name in sorted(body.reasoning.model_fields_set):
        if not model.reasons and getattr(body.reasoning, name) is not None:
            raise unsupported(f"reasoning.{name}")
    effort = body.reasoning.effort
    if effort is not None and effort not in model.efforts:
        known = ", ".join(f"'{value}'" for value in model.efforts)
        raise RequestRefused(
            f"Unsupported value: '{effort}' is not supported with this model. Supported values "
            f"are: {known}.",
            param="reasoning.effort",
            code="unsupported_value",
        )


def check_verbosity(body: InputTokensBody, model: ResponsesModel) -> None:
    """Only newer models take a verbosity."""
    if body.text and body.text.verbosity in {"low", "high"} and not model.phases:
        raise unsupported("text.verbosity")


def check_sampling(body: ResponsesBody, model: ResponsesModel) -> None:
    """No sampling parameters for a model that reasons."""
    if not model.reasons or effort_of(body, model) == "none":
        return
    for field in ("temperature", "top_p", "top_logprobs"):
        if getattr(body, field) is not None:
            raise unsupported(field)


def check_includes(body: ResponsesBody, model: ResponsesModel) -> None:
    """Encrypted reasoning can be had only where there is reasoning."""
    if "reasoning.encrypted_content" in (body.include or []) and not model.reasons:
        raise RequestRefused("Encrypted content is not supported with this model.", param="include")


def check_output_limit(body: ResponsesBody, model: ResponsesModel) -> None:
    """The output limit fits the model."""
    wanted = body.max_output_tokens
    if wanted is not None and wanted > model.max_output:
        raise RequestRefused(
            "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= "
            f"{model.max_output}, but got {wanted} instead.",
            param="max_output_tokens",
            code="integer_above_max_value",
        )


def check_cache(body: ResponsesBody, model: ResponsesModel) -> None:
    """Only newer models let their cache be steered."""
    if body.prompt_cache_options is not None and not model.explicit_cache:
        raise unsupported("prompt_cache_options")


COUNT_CHECKS: tuple[Callable[[InputTokensBody, ResponsesModel], None], ...] = (
    check_effort,
    check_verbosity,
)
CHECKS: tuple[Callable[[ResponsesBody, ResponsesModel], None], ...] = (
    check_sampling,
    check_includes,
    check_output_limit,
    check_cache,
)
