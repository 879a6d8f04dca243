"""Parses a caller's JSON strictly: undefined fields are refused, with their path.

Base of the request models of every format; the formats call ``read``.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Annotated, Any, TypeVar, cast

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.wire.base import Json, JsonObject

MAX_DEPTH = 64
"""Levels of nesting accepted in free JSON, such as schemas and arguments."""

MAX_REPORTED_ERRORS = 1_000
"""Errors in a body beyond which none is described: listing them takes longer than finding them."""


class RequestModel(BaseModel):
    """A value of a caller's request; unknown fields and wrong types are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, defer_build=True)


ModelT = TypeVar("ModelT", bound=RequestModel)

Explain = Callable[[ErrorDetails, bytes], tuple[str, str]]
"""Returns the path of an invalid field of a body, and a sentence about it."""


def dotted(item: ErrorDetails, _: bytes) -> tuple[str, str]:
    """Return the path as in ``messages.0.content``."""
    path = ".".join(str(step) for step in item["loc"])
    return path, f"{path}: {item['msg']}" if path else item["msg"]


def read(model: type[ModelT], raw: bytes, explain: Explain = dotted) -> ModelT:
    """Return the request. Raises ``InvalidRequest`` with the path of the first invalid field."""
    try:
        return _adapter(model).validate_json(raw)
    except ValidationError as error:
        if error.error_count() > MAX_REPORTED_ERRORS:
            count = error.error_count()
            raise InvalidRequest(f"The request has {count:,} wrong or unknown fields") from error
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        path, sentence = explain(first, raw)
        raise InvalidRequest(sentence, param=path or None) from error


@cache
def _adapter(model: type[ModelT]) -> TypeAdapter[ModelT]:
    return TypeAdapter(model)


def as_text_blocks(value: Any) -> Any:
    """Return a plain string as a list of one text block."""
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


def _not_too_deep(value: Json) -> Json:
    if _deeper_than(value, MAX_DEPTH):
        raise ValueError(f"nested more than {MAX_DEPTH} levels deep")
    return value


def _deeper_than(value: Any, levels: int) -> bool:
    if isinstance(value, dict):
        inner = list(cast("dict[str, Any]", value).values())
    elif isinstance(value, list):
        inner = cast("list[Any]", value)
    else:
        return False
    return levels == 0 or any(_deeper_than(item, levels - 1) for item in inner)


FreeJson = Annotated[JsonObject, AfterValidator(_not_too_deep)]
"""An object of arbitrary shape."""

AnyJson = Annotated[Json, AfterValidator(_not_too_deep)]
"""The value of a field without effect."""

StopList = Annotated[list[Annotated[str, Field(min_length=1)]], Field(max_length=64)]
"""Stop sequences; every piece of the reply is compared with all of them."""
