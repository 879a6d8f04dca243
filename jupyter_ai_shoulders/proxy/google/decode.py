"""Decodes a ``generateContent`` body into the common request. Pure; used by ``format``."""

from __future__ import annotations

from collections.abc import Sequence

from jupyter_ai_shoulders.core.catalogue.specs import ThinkingLevel
from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.providers.base import AnyTool, NamedTool, ToolChoice
from jupyter_ai_shoulders.proxy.google.contents import messages
from jupyter_ai_shoulders.proxy.google.openapi_schema import to_json_schema
from jupyter_ai_shoulders.proxy.google.schema import (
    CountBody,
    FunctionCallingConfig,
    FunctionDeclaration,
    GenerateBody,
    GenerationConfig,
    ThinkingConfig,
    Tool,
    ToolConfig,
)
from jupyter_ai_shoulders.proxy.history import normalize_history
from jupyter_ai_shoulders.proxy.request import ProxyRequest
from jupyter_ai_shoulders.proxy.sealed_state import StateSealer
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import ModelId
from jupyter_ai_shoulders.wire.parts import ToolDefinition

LEVELS: dict[str, ThinkingLevel] = {
    "THINKING_LEVEL_UNSPECIFIED": "default",
    "MINIMAL": "low",
    "LOW": "low",
    "MEDIUM": "medium",
    "HIGH": "high",
    "XHIGH": "high",
}
LOW_BUDGET = 4_096
MEDIUM_BUDGET = 12_288
NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}


def decode(model: str, body: GenerateBody, sealer: StateSealer, *, stream: bool) -> ProxyRequest:
    """Return the request. Raises ``InvalidRequest`` for inconsistent contents."""
    config = body.generation_config
    thinking = config.thinking_config or ThinkingConfig()
    tools, choice = _tools(body.tools or (), body.tool_config)
    return ProxyRequest(
        model=ModelId(model),
        system="\n\n".join(
            part.text for part in (body.system_instruction.parts if body.system_instruction else ())
        ),
        messages=normalize_history(messages(body.contents, sealer)),
        tools=tools,
        tool_choice=choice,
        thinking=_level(thinking),
        max_output=config.max_output_tokens,
        response_schema=_response_schema(config),
        stops=tuple(config.stop_sequences or ()),
        stream=stream,
        show_reasoning=thinking.include_thoughts is True,
    )


def decode_count(model: str, body: CountBody, sealer: StateSealer) -> ProxyRequest:
    """Return the request to count. Raises ``InvalidRequest``."""
    if (body.contents is None) == (body.generate_content_request is None):
        raise InvalidRequest("Set one of contents and generate_content_request.")
    whole = body.generate_content_request
    if whole is not None:
        return decode(model, whole, sealer, stream=False)
    return ProxyRequest(
        ModelId(model), "", normalize_history(messages(body.contents or (), sealer))
    )


def _level(config: ThinkingConfig) -> ThinkingLevel:
    """Return the level nearest to the caller's setting; ``default`` where it is not set."""
    level, budget = config.thinking_level, config.thinking_budget
    if level is not None and budget is not None:
        raise InvalidRequest("You can only set only one of thinking budget and thinking level.")
    if level is not None:
        return LEVELS[level]
    if budget is None or budget < 0:
        return "default"
    if budget == 0:
        return "none"
    return "low" if budget <= LOW_BUDGET else "medium" if budget <= MEDIUM_BUDGET else "high"


def _tools(
    tools: Sequence[Tool], config: ToolConfig | None
) -> tuple[tuple[ToolDefinition, ...], ToolChoice]:
    functions = [_function(item) for tool in tools for item in tool.function_declarations or ()]
    names = {function.name for function in functions}
    if len(names) != len(functions):
        raise InvalidRequest("Duplicate function declaration found.")
    calling = config.function_calling_config if config else None
    if calling is None:
        return tuple(functions), "auto"
    if not functions:
        raise InvalidRequest("Function calling config is set without function_declarations.")
    allowed = calling.allowed_function_names or []
    _check_allowed(calling, names)
    if calling.mode in {"ANY", "VALIDATED"} and allowed:
        functions = [function for function in functions if function.name in allowed]
    return tuple(functions), _choice(calling)


def _check_allowed(config: FunctionCallingConfig, names: set[str]) -> None:
    allowed = config.allowed_function_names or []
    if allowed and config.mode not in {"ANY", "VALIDATED"}:
        raise InvalidRequest("allowed_function_names may only be set with mode ANY or VALIDATED.")
    unknown = [name for name in allowed if name not in names]
    if unknown:
        raise InvalidRequest(f"Allowed function name is not declared: {unknown[0]}")


def _choice(config: FunctionCallingConfig) -> ToolChoice:
    """Return the tool choice; where several tools are allowed, the others are left out of the
    request.
    """
    allowed = config.allowed_function_names or []
    match config.mode:
        case "ANY":
            return NamedTool(allowed[0]) if len(allowed) == 1 else AnyTool()
        case "NONE":
            return "none"
        case _:
            return "auto"


def _function(function: FunctionDeclaration) -> ToolDefinition:
    said, schema = function.parameters, function.parameters_json_schema
    if said is not None and schema is not None:
        raise InvalidRequest(
            f"{function.name}: only one of parameters and parameters_json_schema may be set."
        )
    parameters = to_json_schema(said) if said is not None else schema
    return ToolDefinition(
        name=function.name,
        description=function.description or "",
        parameters=parameters or NO_PARAMETERS,
    )


def _response_schema(config: GenerationConfig) -> JsonObject | None:
    said, schema = config.response_schema, config.response_json_schema
    if said is not None and schema is not None:
        raise InvalidRequest("Only one of response_schema and response_json_schema may be set.")
    if config.response_mime_type != "application/json":
        if said is not None or schema is not None:
            raise InvalidRequest("A response schema needs response_mime_type 'application/json'.")
        return None
    wanted = to_json_schema(said) if said is not None else schema
    return wanted or {"type": "object"}
