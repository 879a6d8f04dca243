"""Requests that the model refuses although the schema accepts them.

Called by ``endpoint`` after the rules of the conversation.
"""

from __future__ import annotations

from tests.simulator.google.models import GeminiModel
from tests.simulator.google.schema import GenerateContentBody
from tests.simulator.google.validation_errors import invalid

UNARY_LIMIT = 32_768


def check_model(body: GenerateContentBody, model: GeminiModel, *, stream: bool) -> None:
    """Refuse what this model does not do. Raises ``Refused``."""
    check_thinking(body, model)
    check_output(body, model, stream=stream)
    check_results(body, model)
    check_schema_with_functions(body, model)
    if body.cached_content is not None and not model.explicit_cache:
        raise invalid("Explicit caching is not supported for this model.")
    if body.continuation_token is not None and not model.hops:
        raise invalid("continuation_token is not supported for this model.")


def shows_thoughts(body: GenerateContentBody) -> bool:
    """Return whether thoughts are part of the answer."""
    config = body.generation_config.thinking_config
    return config is not None and config.include_thoughts is True


def check_thinking(body: GenerateContentBody, model: GeminiModel) -> None:
    """Thinking is asked for in the model's own way."""
    config = body.generation_config.thinking_config
    if config is None:
        return
    level, budget = config.thinking_level, config.thinking_budget
    if level is not None and budget is not None:
        raise invalid("You can only set only one of thinking budget and thinking level.")
    if level is not None:
        check_level(level, model)
    if budget is not None:
        check_budget(budget, model)


def check_level(level: str, model: GeminiModel) -> None:
    """The level is one of the model's."""
    if not model.levels:
        raise invalid("Thinking level is not supported for this model.")
    if level not in model.levels:
        raise invalid(f"Thinking level {level} is not supported for this model.")


def check_budget(budget: int, model: GeminiModel) -> None:
    """The budget is one the model takes; -1 leaves it to the model."""
    if not model.takes_budget:
        raise invalid("Thinking budget is not supported for this model. Use thinking_level.")
    if budget == 0 and not model.can_be_off:
        raise invalid("Budget 0 is invalid. This model only works in thinking mode.")
    if budget > 0 and not model.least_budget <= budget <= UNARY_LIMIT:
        raise invalid(
            f"The thinking budget {budget} is invalid. Please choose a value between "
            f"{model.least_budget} and {UNARY_LIMIT}."
        )


def check_output(body: GenerateContentBody, model: GeminiModel, *, stream: bool) -> None:
    """The answer may not be longer than the model's, nor than one that comes whole can be."""
    wanted = body.generation_config.max_output_tokens or 0
    if wanted > model.max_output:
        raise invalid(
            f"Unable to submit request because it has a maxOutputTokens value of {wanted} but the "
            f"supported range is from 1 (inclusive) to {model.max_output + 1} (exclusive)."
        )
    if model.hops and not stream and wanted > UNARY_LIMIT and body.continuation_token is None:
        raise invalid(
            f"maxOutputTokens above {UNARY_LIMIT} needs streamGenerateContent or a "
            "continuation_token."
        )


def check_results(body: GenerateContentBody, model: GeminiModel) -> None:
    """Older models take no files in results."""
    for content in body.turns:
        for part in content.parts or []:
            if part.function_response and part.function_response.parts and not model.current:
                raise invalid("Multimodal function response is not supported for this model.")


def check_schema_with_functions(body: GenerateContentBody, model: GeminiModel) -> None:
    """Older models cannot answer in JSON while they have functions."""
    as_json = body.generation_config.response_mime_type == "application/json"
    if as_json and body.functions and not model.current:
        raise invalid(
            "Function calling with a response mime type: 'application/json' is unsupported"
        )
