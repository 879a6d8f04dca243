"""Fill-in-the-middle of Mistral, DeepSeek and llama.cpp; used by ``provider``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never
from urllib.parse import urlsplit, urlunsplit

from jupyter_ai_shoulders.core.errors import InvalidRequest
from jupyter_ai_shoulders.providers.base import FillIn, ModelRequest, StopReason
from jupyter_ai_shoulders.providers.formats.fill_in_the_middle import (
    FillDecoder,
    FillPiece,
    text_before,
)
from jupyter_ai_shoulders.providers.formats.openai_service import DEFAULT_AUTH, api_url
from jupyter_ai_shoulders.providers.formats.server_profiles import FillStyle, Profile
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint, encode_json
from jupyter_ai_shoulders.providers.http.request import StreamFormat
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.providers.openai_chat.decode import OpenAIChatDecoder
from jupyter_ai_shoulders.providers.openai_chat.errors import read_refusal
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage

DEEPSEEK_LIMIT = 4_096
"""Output tokens, by DeepSeek's documentation."""

_FINISHED: Mapping[str, StopReason] = {
    "stop": "end_turn",
    "length": "max_tokens",
    "content_filter": "content_filter",
}
_STOPPED: Mapping[str, StopReason] = {"limit": "max_tokens"}


def fill_call(
    request: ModelRequest, fill: FillIn, endpoint: Endpoint, profile: Profile
) -> HttpRequest:
    """Return the request. Raises ``InvalidRequest`` where the server has no such endpoint."""
    style = _style(profile)
    url = _address(endpoint.provider.url, style)
    return endpoint.call(url, DEFAULT_AUTH, body=encode_json(_body(request, fill, style)))


def fill_format(assembler: Assembler, endpoint: Endpoint, profile: Profile) -> StreamFormat:
    """Return the format of the response."""
    style = _style(profile)
    match style:
        case "mistral":  # chunks as in a chat
            return StreamFormat(OpenAIChatDecoder(assembler, endpoint, profile), read_refusal)
        case "deepseek":
            return StreamFormat(FillDecoder(assembler, _completion, read_refusal), read_refusal)
        case "llamacpp":
            return StreamFormat(FillDecoder(assembler, _infilled, read_refusal), read_refusal)
        case _:
            assert_never(style)


def _style(profile: Profile) -> FillStyle:
    if profile.fill_in is None:
        raise InvalidRequest(
            "This server cannot be asked to fill in the middle of a text.",
            hint='Remove "fill_in" from the model in models.json, or name the server\'s profile.',
        )
    return profile.fill_in


def _address(url: str, style: FillStyle) -> str:
    if style == "mistral":
        return api_url(url, "fim/completions")
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    root = path.removesuffix("/v1").removesuffix("/beta")
    name = "beta/completions" if style == "deepseek" else "infill"
    return urlunsplit(parts._replace(path=f"{root}/{name}"))


def _body(request: ModelRequest, fill: FillIn, style: FillStyle) -> VendorObject:
    prompt, common = text_before(request), {"temperature": fill.temperature, "stream": True}
    if style == "llamacpp":
        sides = {"input_prefix": prompt, "input_suffix": fill.suffix}
        return {**sides, "n_predict": request.max_output, "cache_prompt": True, **common}
    body = {"model": request.model, "prompt": prompt, "suffix": fill.suffix, **common}
    if style == "mistral":
        return {**body, "max_tokens": request.max_output}
    limit = min(request.max_output, DEEPSEEK_LIMIT)
    return {**body, "max_tokens": limit, "stream_options": {"include_usage": True}}


def _completion(data: VendorObject) -> FillPiece:
    """Decode a chunk of DeepSeek: old text completions, ended by ``[DONE]``."""
    choices = as_list(data.get("choices"))
    choice = as_object(choices[0]) if choices else {}
    finish = as_text(choice.get("finish_reason"))
    usage = as_object(data.get("usage"))
    return FillPiece(
        as_text(choice.get("text")),
        _FINISHED.get(finish, "other") if finish else None,
        usage=_usage(usage.get("prompt_tokens"), usage.get("completion_tokens")),
    )


def _infilled(data: VendorObject) -> FillPiece:
    """Decode an event of llama.cpp's own format; the one with ``stop`` is the last."""
    text = as_text(data.get("content"))
    if data.get("stop") is not True:
        return FillPiece(text)
    usage = _usage(data.get("tokens_evaluated"), data.get("tokens_predicted"))
    ended = _STOPPED.get(as_text(data.get("stop_type")), "end_turn")
    return FillPiece(text, ended, is_last=True, usage=usage)


def _usage(prompt: object, output: object) -> TokenUsage | None:
    given = as_count(prompt)
    if given is None:
        return None
    return TokenUsage(input_tokens=given, output_tokens=as_count(output) or 0)
