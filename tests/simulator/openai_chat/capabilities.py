"""Requests that the model refuses: reasoning, tools with it, sampling, sizes.

Called by ``endpoint`` after the rules of the conversation.
"""

from __future__ import annotations

from tests.simulator.openai_chat.models import ChatModel
from tests.simulator.openai_chat.schema import ChatBody
from tests.simulator.refusal import RequestRefused


def effort_of(body: ChatBody, model: ChatModel) -> str:
    """Return the reasoning effort in force."""
    return body.reasoning_effort or model.default_effort


def check_model(body: ChatBody, name: str, model: ChatModel) -> None:
    """Refuse what this model does not do. Raises ``RequestRefused``."""
    check_effort(body, model)
    check_tools(body, name, model)
    check_token_limit(body, model)
    check_sampling(body, model)


def check_effort(body: ChatBody, model: ChatModel) -> None:
    """The effort is one the model knows."""
    effort = body.reasoning_effort
    if effort is None or effort in model.efforts:
        return
    if not model.efforts:
        raise RequestRefused(
            "Unrecognized request argument supplied: reasoning_effort",
            param="reasoning_effort",
        )
    known = ", ".join(f"'{value}'" for value in model.efforts)
    raise RequestRefused(
        f"Unsupported value: 'reasoning_effort' does not support '{effort}' with this model. "
        f"Supported values are: {known}.",
        param="reasoning_effort",
        code="unsupported_value",
    )


def check_tools(body: ChatBody, name: str, model: ChatModel) -> None:
    """OpenAI's current models take function tools here only without reasoning."""
    if not body.tools or not model.tools_need_no_effort:
        return
    unsaid = model.tools_need_stated_none and body.reasoning_effort is None
    if unsaid or effort_of(body, model) != "none":
        raise RequestRefused(
            f"Function tools with reasoning_effort are not supported for {name} in "
            "/v1/chat/completions. To use function tools, use /v1/responses or set "
            "reasoning_effort to 'none'.",
            param="reasoning_effort",
        )


def check_token_limit(body: ChatBody, model: ChatModel) -> None:
    """The output limit has the name the server wants, and fits the model."""
    reasons = bool(model.efforts)
    if body.max_tokens is not None and model.server.name == "openai" and reasons:
        raise RequestRefused(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
            "'max_completion_tokens' instead.",
            param="max_tokens",
            code="unsupported_parameter",
        )
    for field in ("max_tokens", "max_completion_tokens"):
        wanted: int | None = getattr(body, field)
        if wanted is not None and wanted > model.max_output:
            raise RequestRefused(
                f"{field} is too large: {wanted}. This model supports at most {model.max_output} "
                f"completion tokens, whereas you provided {wanted}.",
                param=field,
                code="invalid_value",
            )


def check_sampling(body: ChatBody, model: ChatModel) -> None:
    """OpenAI's models take no sampling parameters while they reason."""
    if model.server.name != "openai" or effort_of(body, model) == "none":
        return
    for field in ("temperature", "top_p"):
        if getattr(body, field) is not None:
            raise RequestRefused(
                f"Unsupported parameter: '{field}' is not supported with this model.",
                param=field,
                code="unsupported_parameter",
            )
