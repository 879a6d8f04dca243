"""The official Google SDK's types as a judge of ``generateContent`` bodies.

They refuse unknown fields at every level; roles and enumerations, which they take as they come, are
looked at here.
"""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any, cast

from google.genai import types
from pydantic import BaseModel, TypeAdapter, ValidationError

TOP: dict[str, Any] = {
    "contents": list[types.Content],
    "systemInstruction": types.Content,
    "tools": list[types.Tool],
    "toolConfig": types.ToolConfig,
    "generationConfig": types.GenerationConfig,
    "safetySettings": list[types.SafetySetting],
    "cachedContent": str,
    "labels": dict[str, str],
    "serviceTier": str,
    "store": bool,
    "continuationToken": str,
}


def google_problems(body: dict[str, Any]) -> list[str]:
    """Return what the SDK's types say against a body."""
    problems = [f"{name}: unknown field" for name in body if name not in TOP]
    problems += [] if "contents" in body else ["contents: missing"]
    for name in TOP.keys() & body.keys():
        problems += [f"{name}{problem}" for problem in _problems(TOP[name], body[name])]
    contents = cast("list[dict[str, Any]]", body.get("contents", []))
    roles = {str(content.get("role")) for content in contents}
    return problems + [f"role: {role}" for role in roles - {"user", "model"}]


EMBED: dict[str, Any] = {
    "model": str,
    "content": types.Content,
    "taskType": str,
    "title": str,
    "outputDimensionality": int,
}


def embedding_problems(body: dict[str, Any]) -> list[str]:
    """Return what the SDK's types say against a body of ``batchEmbedContents``."""
    problems = [f"{name}: unknown field" for name in body if name != "requests"]
    for asked in cast("list[dict[str, Any]]", body.get("requests", [])):
        problems += [f"requests.{name}: unknown field" for name in asked if name not in EMBED]
        for name in EMBED.keys() & asked.keys():
            problems += [f"requests.{name}{each}" for each in _problems(EMBED[name], asked[name])]
    return problems


def response_problems(body: dict[str, Any]) -> list[str]:
    """Return what the SDK's types say against a response, or a chunk of one."""
    return _problems(types.GenerateContentResponse, body)


def _problems(kind: Any, value: Any) -> list[str]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # unknown values of enumerations only warn
        try:
            made: BaseModel | list[BaseModel] = _adapter(kind).validate_python(value)
        except ValidationError as error:
            return [f".{e['loc']}: {e['msg']}" for e in error.errors(include_url=False)]
        except UserWarning as warning:
            return [f": {warning}"]
    del made
    return []


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the validator of a type; building it takes milliseconds."""
    return TypeAdapter(kind)
