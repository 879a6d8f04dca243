"""Fill-in-the-middle by ``/api/generate`` with a suffix; used by ``provider``."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_ai_shoulders.core.catalogue.specs import ModelSpec
from jupyter_ai_shoulders.providers.base import FillIn, ModelRequest, StopReason
from jupyter_ai_shoulders.providers.formats.fill_in_the_middle import (
    FillDecoder,
    FillPiece,
    text_before,
)
from jupyter_ai_shoulders.providers.http.endpoint import encode_json
from jupyter_ai_shoulders.providers.http.request import StreamFormat
from jupyter_ai_shoulders.providers.ollama.errors import read_refusal
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler
from jupyter_ai_shoulders.providers.streaming.ndjson import NdjsonDecoder
from jupyter_ai_shoulders.providers.vendor_json import VendorObject, as_count, as_text
from jupyter_ai_shoulders.wire.usage import TokenUsage

_DONE: Mapping[str, StopReason] = {"": "end_turn", "stop": "end_turn", "length": "max_tokens"}


def fill_body(request: ModelRequest, fill: FillIn, model: ModelSpec) -> bytes:
    """Return the body of ``POST /api/generate``."""
    options = {
        "num_ctx": model.window,
        "num_predict": request.max_output,
        "temperature": fill.temperature,
    }
    return encode_json(
        {
            "model": request.model,
            "prompt": text_before(request),
            "suffix": fill.suffix,
            "stream": True,
            "options": options,
        }
    )


def fill_format(assembler: Assembler) -> StreamFormat:
    """Return the format of the response."""
    return StreamFormat(
        FillDecoder(assembler, _generated, read_refusal), read_refusal, NdjsonDecoder
    )


def _generated(data: VendorObject) -> FillPiece:
    """Decode a line; the one with ``done`` is the last."""
    text = as_text(data.get("response"))
    if data.get("done") is not True:
        return FillPiece(text)
    prompt, output = as_count(data.get("prompt_eval_count")), as_count(data.get("eval_count"))
    usage = None if prompt is None else TokenUsage(input_tokens=prompt, output_tokens=output or 0)
    ended = _DONE.get(as_text(data.get("done_reason")), "other")
    return FillPiece(text, ended, is_last=True, usage=usage)
