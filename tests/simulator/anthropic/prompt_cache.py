"""The prompt cache of the Messages API; used by ``endpoint``.

A breakpoint stores the prefix that ends there: tools, system, messages, in this order. A later
request reads the longest stored prefix that ends at one of its own breakpoints, or at most twenty
blocks before it; runs of tool blocks count as one. Prefixes below the model's minimum are not
cached, and nothing is without a breakpoint. All sizes are estimates.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.simulator.anthropic.signatures import without_breakpoints
from tests.simulator.chunking import estimate
from tests.simulator.script import Usage

LOOKBACK = 20
_LEAST = {"opus-4-8": 1024, "sonnet-5": 1024, "sonnet-4": 1024, "opus-4-7": 2048}
_LEAST_OF_OLD = {"opus-4-6": 4096, "opus-4-5": 4096, "haiku-4-5": 4096}
_LEAST_NOW = 512
_CALLS = {"tool_use", "tool_result"}


@dataclass(frozen=True, slots=True)
class CachePosition:
    """The end of one block: what the prefix up to here is, and its size in characters."""

    digest: str
    size: int
    breakpoint: bool
    is_call: bool


@dataclass(slots=True)
class PromptCache:
    """Prefixes stored, by their digest; they do not expire while the simulator runs."""

    stored: set[str] = field(default_factory=set[str])

    def usage(self, body: Mapping[str, Any], output: int) -> Usage:
        """Return what a request reads and writes, and store what it writes."""
        places = list(places_of(body))
        least = least_tokens(str(body.get("model")))
        ends = [index for index, place in enumerate(places) if place.breakpoint]
        read = max((self._found(places, end) for end in ends), default=0)
        written = 0
        for end in ends:
            if estimate(places[end].size) >= least:
                self.stored.add(places[end].digest)
                written = max(written, estimate(places[end].size) - read)
        total = estimate(places[-1].size) if places else 1
        return Usage(input=total, output=output, cache_read=read, cache_write=max(written, 0))

    def _found(self, places: Sequence[CachePosition], end: int) -> int:
        """Return the tokens of the longest stored prefix at a breakpoint or shortly before."""
        positions = 0
        for index in range(end, -1, -1):
            if places[index].digest in self.stored:
                return estimate(places[index].size)
            in_run = places[index].is_call and index > 0 and places[index - 1].is_call
            positions += not in_run
            if positions > LOOKBACK:
                return 0
        return 0


def least_tokens(model: str) -> int:
    """Return the smallest prefix a model caches."""
    for part, least in (_LEAST | _LEAST_OF_OLD).items():
        if part in model and not (part == "sonnet-5" and "sonnet-5-" in model):
            return least
    return _LEAST_NOW


def places_of(body: Mapping[str, Any]) -> Iterator[CachePosition]:
    """Yield the end of every block; the last one is a breakpoint with automatic caching."""
    blocks = list(blocks_of(body))
    digest, size = hashlib.sha256(), 0
    for number, (where, block) in enumerate(blocks, start=1):
        text = json.dumps([where, without_breakpoints(block)], ensure_ascii=False)
        digest.update(text.encode("utf-8", "surrogatepass"))
        size += len(text)
        automatic = number == len(blocks) and body.get("cache_control") is not None
        yield CachePosition(
            digest.hexdigest(),
            size,
            automatic or block.get("cache_control") is not None,
            block.get("type") in _CALLS,
        )


def blocks_of(body: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield all blocks with what they belong to.

    Model, tool choice and thinking are part of the first message: with other ones nothing of the
    messages is read.
    """
    model = body.get("model")
    tools: list[dict[str, Any]] = body.get("tools") or []
    for tool in tools:
        yield f"{model} tools", tool
    for block in _content(body.get("system") or []):
        yield f"{model} system", block
    settings = json.dumps([body.get("tool_choice"), body.get("thinking")])
    for number, message in enumerate(body.get("messages") or []):
        where = f"{number} {message['role']}{settings if number == 0 else ''}"
        for block in _content(message["content"]):
            yield where, block


def _content(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
