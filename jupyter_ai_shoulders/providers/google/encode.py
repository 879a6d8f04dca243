"""Encodes the common request as a ``generateContent`` body. Pure; used by ``provider``.

Thinking is set by level from Gemini 3 on and by budget before; the catalogue knows which.
"""

from __future__ import annotations

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec, ThinkingLevel
from jupyter_ai_shoulders.providers.base import AnyTool, ModelRequest, ToolChoice
from jupyter_ai_shoulders.providers.google.function_names import function_name
from jupyter_ai_shoulders.providers.google.history import GoogleHistory
from jupyter_ai_shoulders.providers.google.json_schema import to_gemini
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_body
from jupyter_ai_shoulders.providers.vendor_json import VendorObject
from jupyter_ai_shoulders.wire.parts import ToolDefinition

MAX_OUTPUT = 65_536
"""Tokens of one streamed answer; longer answers need several streams."""
BUDGETS: dict[ThinkingLevel, int] = {"low": 1_024, "medium": 8_192, "high": 24_576, "default": -1}
"""Thinking budgets in tokens, as Google itself translates efforts; -1 lets the model decide."""

LEAST_BUDGET = 128
"""The smallest budget of a model that always thinks."""


def encode(request: ModelRequest, endpoint: Endpoint, continuation: str | None = None) -> bytes:
    """Return the body of ``:streamGenerateContent``.

    ``continuation`` is the token of an unfinished answer; all else stays the same.
    """
    head = _head(request, endpoint)
    if continuation is not None:
        head["continuationToken"] = continuation
    return _body(head, request, endpoint)


def encode_count(request: ModelRequest, endpoint: Endpoint, resource: str) -> bytes:
    """Return the body of ``:countTokens``; ``resource`` names the model (``models/…``)."""
    head = {"model": resource, **_head(request, endpoint)}
    asked = _body(head, request, endpoint)
    return b'{"generateContentRequest":' + asked + b"}"


def _body(head: VendorObject, request: ModelRequest, endpoint: Endpoint) -> bytes:
    contents = GoogleHistory(endpoint).encode(request.messages)
    functions = endpoint.tools(request.tools, _function)
    tools = [b'{"functionDeclarations":[' + b",".join(functions) + b"]}"] if functions else []
    return encode_body(head, contents, "contents", tools)


def _head(request: ModelRequest, endpoint: Endpoint) -> VendorObject:
    """Return all fields but tools and contents."""
    head: VendorObject = {"generationConfig": _generation_config(request, endpoint)}
    if request.system.strip():
        head["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.tools:
        head |= _tool_choice(request.tool_choice, endpoint)
    return head


def _generation_config(request: ModelRequest, endpoint: Endpoint) -> VendorObject:
    model = endpoint.model
    config: VendorObject = {
        "maxOutputTokens": min(request.max_output, model.max_output or MAX_OUTPUT, MAX_OUTPUT)
    }
    thinking = thinking_config(model, request.thinking)
    if thinking is not None:
        config["thinkingConfig"] = thinking
    # older models refuse a response format together with functions
    if request.response_schema is not None and model.structured_output and not request.tools:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = to_gemini(request.response_schema)
    return config


def _function(tool: ToolDefinition) -> VendorObject:
    return {
        "name": function_name(tool.name),
        "description": tool.description,
        "parametersJsonSchema": to_gemini(tool.parameters),
    }


def _tool_choice(choice: ToolChoice, endpoint: Endpoint) -> VendorObject:
    config: VendorObject
    if choice == "none":
        config = {"mode": "NONE"}
    elif choice == "auto" or endpoint.model.forced_tool == "no":
        return {}
    elif isinstance(choice, AnyTool):
        config = {"mode": "ANY"}
    else:
        config = {"mode": "ANY", "allowedFunctionNames": [function_name(choice.name)]}
    return {"toolConfig": {"functionCallingConfig": config}}


def thinking_config(model: ModelSpec, level: ThinkingLevel) -> VendorObject | None:
    """Return ``thinkingConfig`` for this level; None sends nothing.

    ``default`` is the model's own level, and the high one where that is ``default`` too.
    """
    wanted = model.thinking if level == "default" else level
    match model.thinking_support.mode:
        case "effort":
            return _by_level(model, wanted)
        case "budget":
            return _by_budget(model, wanted)
        case _:
            return None


def _by_level(model: ModelSpec, wanted: ThinkingLevel) -> VendorObject | None:
    efforts = model.thinking_support.efforts
    if wanted == "none":
        return {"thinkingLevel": efforts[0].upper()} if efforts else None
    effort = "high" if wanted == "default" else wanted
    if effort not in efforts:
        return None
    return {"thinkingLevel": effort.upper(), "includeThoughts": True}


def _by_budget(model: ModelSpec, wanted: ThinkingLevel) -> VendorObject:
    if wanted == "none":
        return {"thinkingBudget": 0 if model.thinking_support.off == "disabled" else LEAST_BUDGET}
    return {"thinkingBudget": model.thinking_budget or BUDGETS[wanted], "includeThoughts": True}
