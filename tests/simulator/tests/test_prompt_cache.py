"""The simulator's prompt cache behaves as Anthropic documents it."""

from __future__ import annotations

from typing import Any

from tests.simulator.anthropic.prompt_cache import PromptCache, least_tokens

TEXT = "word " * 1_000
CACHE = {"type": "ephemeral"}


def body(*texts: str, automatic: bool = True, **more: Any) -> dict[str, Any]:
    """A request whose messages are these texts, of both sides in turn."""
    messages = [
        {
            "role": "assistant" if index % 2 else "user",
            "content": [{"type": "text", "text": text}],
        }
        for index, text in enumerate(texts)
    ]
    system = [{"type": "text", "text": TEXT}]
    automatic_cache = {"cache_control": CACHE} if automatic else {}
    return {
        "model": "claude-sonnet-5-5",
        "system": system,
        "messages": messages,
        **automatic_cache,
        **more,
    }


def read(cache: PromptCache, asked: dict[str, Any]) -> int:
    return cache.usage(asked, 1).cache_read


def test_longer_conversation_reads_what_the_shorter_one_wrote():
    cache = PromptCache()
    first = cache.usage(body(TEXT), 1)
    second = cache.usage(body(TEXT, "Yes.", "Go on."), 1)
    assert (first.cache_read, first.cache_write) == (0, first.input)
    assert second.cache_read == first.input
    assert second.cache_write == second.input - first.input


def test_changed_beginning_reads_nothing():
    cache = PromptCache()
    cache.usage(body(TEXT), 1)
    assert read(cache, body(f"Other {TEXT}", "Yes.", "Go on.")) == 0
    assert read(cache, body(TEXT, "Yes.", "Go on.", model="claude-opus-5-5")) == 0
    assert read(cache, body(TEXT, "Yes.", "Go on.", thinking={"type": "adaptive"})) == 0
    assert read(cache, body(TEXT, "Yes.", "Go on.")) > 0


def test_nothing_is_cached_without_a_breakpoint_or_when_it_is_short():
    cache = PromptCache()
    assert cache.usage(body(TEXT, automatic=False), 1).cache_write == 0
    assert read(cache, body(TEXT, "Yes.", "Go on.")) == 0
    short = {"system": [], "messages": [{"role": "user", "content": "Hi"}], "cache_control": CACHE}
    cache.usage(short, 1)
    assert read(cache, short) == 0


def test_breakpoints_of_blocks_count_and_move():
    cache = PromptCache()
    marked = body(TEXT, automatic=False)
    marked["messages"][0]["content"][0]["cache_control"] = CACHE
    wrote = cache.usage(marked, 1)
    plain = body(TEXT, "Yes.", "Go on.")
    assert read(cache, plain) == wrote.input


def test_lookback_ends_after_twenty_blocks_and_runs_of_calls_are_one():
    cache = PromptCache()
    cache.usage(body(TEXT), 1)
    assert read(cache, body(TEXT, *["x"] * 18)) > 0
    cache.stored.clear()
    cache.usage(body(TEXT), 1)
    assert read(cache, body(TEXT, *["x"] * 24)) == 0
    called = body(TEXT)
    results = [{"type": "tool_result", "tool_use_id": str(n), "content": "x"} for n in range(40)]
    called["messages"].append({"role": "user", "content": results})
    assert read(cache, called) > 0


def test_least_prefix_goes_by_the_model():
    names = ["claude-sonnet-5-5", "claude-sonnet-5", "claude-opus-4-7", "claude-haiku-4-5"]
    assert [least_tokens(name) for name in names] == [512, 1024, 2048, 4096]
