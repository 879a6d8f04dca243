"""``/api/generate``: continues a text or, with a suffix, fills in the middle. Called by
``endpoint``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.simulator.chaos_stream import SseEvent
from tests.simulator.chunking import cut, usage_of
from tests.simulator.endpoint_protocol import Stream, with_failure
from tests.simulator.http import HttpRequest
from tests.simulator.ollama.models import OllamaModel
from tests.simulator.ollama.reply import CREATED, DONE_REASONS
from tests.simulator.ollama.schema import GenerateBody
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Reply, SimRequest, Text


def check_generate(body: GenerateBody, model: OllamaModel) -> None:
    """Refuse what the model cannot do."""
    wanted = {"insert": bool(body.suffix), "thinking": bool(body.think), "vision": body.images}
    for name, asked in wanted.items():
        if asked and name not in model.capabilities:
            raise RequestRefused(f'"{model.name}" does not support {name}')
    if body.raw and (body.template or body.system):
        raise RequestRefused("raw mode does not support template, system, or context")


@dataclass(frozen=True, slots=True)
class AcceptedGenerate:
    """A checked request for text."""

    http: HttpRequest
    body: GenerateBody

    @property
    def request(self) -> SimRequest:
        """The request as scripts see it."""
        return SimRequest(
            format="ollama",
            model=self.body.model,
            stream=self.body.stream,
            body=json.loads(self.http.body),
            headers=self.http.headers,
            user_text=self.body.prompt,
            tool_results=(),
            tool_names=(),
        )

    def answer(self, reply: Reply) -> Stream | Mapping[str, Any]:
        """Return the stream asked for, or the body of an answer in one piece."""
        texts = [piece for part in _texts(reply) for piece in cut(part.text, part.split)]
        usage = usage_of(reply, len(self.http.body))
        reason = DONE_REASONS[reply.stop_reason()]
        ending: dict[str, Any] = {"done": True, "done_reason": reason, "total_duration": 1}
        if reply.report_usage:
            ending |= {"prompt_eval_count": usage.input, "eval_count": usage.output}
        if not self.body.stream:
            return self._line("".join(texts)) | ending
        lines = [self._line(text) | {"done": False} for text in texts]
        events = [SseEvent(json.dumps(line), delta=True, bare=True) for line in lines]
        if reason is not None:
            last = json.dumps(self._line("") | ending)
            events.append(SseEvent(last, terminal=True, bare=True))
        message = reply.failure.message if reply.failure else None
        failed = [SseEvent(json.dumps({"error": message or "something went wrong"}), bare=True)]
        headers = {"content-type": "application/x-ndjson"}
        return Stream(headers, with_failure(events, reply.failure, failed), reply.delivery)

    def _line(self, text: str) -> dict[str, Any]:
        return {"model": self.body.model, "created_at": CREATED, "response": text}


def _texts(reply: Reply) -> list[Text]:
    return [part for part in reply.parts if isinstance(part, Text)]
