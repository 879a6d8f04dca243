"""LiteLLM's proxy beside ours.

All ask the same simulated provider, which has Anthropic's Messages format: directly, through the
bare relay (the least a server in between can do), through our proxy and through LiteLLM's, each of
these in both formats it offers. First token: one stream at a time. Load: 50 streams of
50 tokens/s; CPU is what the server's process uses for 1 000 tokens that arrive, counted between
the first fifth and the last tenth of them. The provider sends 2 500 tokens/s; a server that
delivers fewer is at its limit. LiteLLM runs with one worker, a master key and no database; ours is
part of a Jupyter server, so its memory is that of the whole server, children included.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from tests.bench.baseline_relay import relay_to
from tests.bench.figures import Spread, single, spread
from tests.bench.groups.model_proxy import (
    FIRST_ROUNDS,
    MARK,
    ROUNDS,
    Flow,
    Load,
    Way,
    first_token,
    flow,
    ways_through,
)
from tests.bench.groups.server_start import megabytes
from tests.bench.rivals.comparison import Comparison, Row
from tests.bench.rivals.environments import NotMeasured, Rival
from tests.bench.rivals.processes import started
from tests.bench.server_and_provider import Provider, serving
from tests.bench.timing import Sample, interleaved
from tests.simulator_process import MODEL, says
from tests.support.lab_server import free_port

LITELLM = Rival("LiteLLM proxy", "litellm", ("litellm[proxy]",))
LOAD = Load(50, 160, 50, 0.97)
MASTER_KEY = "sk-litellm-bench"
OFFLINE = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_MODE": "PRODUCTION",
    "LITELLM_LOG": "ERROR",
    "DISABLE_ADMIN_UI": "True",
    "NO_DOCS": "True",
}
"""Settings without which LiteLLM fetches prices, or serves pages that are not measured."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What was taken of each way, by its name."""

    first: Mapping[str, Sequence[Sample]]
    flows: Mapping[str, Sequence[Flow]]
    memory: Mapping[str, float]


def measure() -> Comparison:
    """Measure first tokens, then the load, with LiteLLM where it can be installed and started."""
    try:
        LITELLM.install()
        return _compared(asyncio.run(_measure(LITELLM)), [])
    except NotMeasured as error:
        return _compared(asyncio.run(_measure(None)), [f"{LITELLM.name}: {error}."])


async def _measure(rival: Rival | None) -> Measured:
    script = {"default": says(f"Certainly.{MARK} Here is what I found in your data.")}
    async with _all_ways(script, rival) as ways:
        takers = {name: first_token(way) for name, way in ways.items()}
        first = await interleaved(FIRST_ROUNDS, takers, warm=3)
    # Numbered, because LiteLLM ends a stream that repeats one piece a hundred times.
    text = "".join(f"w{number}{MARK} " for number in range(LOAD.tokens))
    script = {"default": says(text, tokens_per_second=LOAD.speed)}
    async with _all_ways(script, rival) as ways:
        flows: dict[str, list[Flow]] = {name: [] for name in ways}
        for number in range(ROUNDS + 1):
            for name, way in ways.items():
                taken = await flow(way, LOAD)
                if number:  # the first round is a warm-up
                    flows[name].append(taken)
        memory = {name: megabytes(psutil.Process(way.pid)) for name, way in ways.items()}
    return Measured(first, flows, memory)


@asynccontextmanager
async def _all_ways(
    script: Mapping[str, Any], rival: Rival | None
) -> AsyncGenerator[dict[str, Way]]:
    async with serving(script) as (server, provider):
        with relay_to(provider.url) as relay, _litellm(rival, provider) as other:
            between = Provider(relay.url, provider.http)
            yield {**ways_through(server, provider, between, relay.pid), **other}


@contextmanager
def _litellm(rival: Rival | None, provider: Provider) -> Generator[dict[str, Way]]:
    """Start LiteLLM's proxy in front of the provider; yield the ways through it."""
    if rival is None:
        yield {}
        return
    with tempfile.TemporaryDirectory() as name:
        config = Path(name, "config.yaml")
        config.write_text(json.dumps(_config(provider)))  # JSON is YAML, too
        port = free_port()
        command = [
            *(str(rival.bin / "litellm"), "--config", str(config), "--telemetry", "False"),
            *("--host", "127.0.0.1", "--port", str(port), "--num_workers", "1"),
        ]
        with started(command, {**rival.variables, **OFFLINE}, Path(name)) as process:
            process.wait_for(f"http://127.0.0.1:{port}/health/liveliness")
            proxy = Provider(f"http://127.0.0.1:{port}", provider.http, MASTER_KEY, "simulated")
            chat = replace(proxy, path="/v1/chat/completions")
            yield {
                "litellm messages": Way(proxy, process.pid),
                "litellm chat": Way(chat, process.pid),
            }


def _config(provider: Provider) -> Mapping[str, Any]:
    upstream = {
        "model": f"anthropic/{MODEL}",
        "api_base": provider.url,
        "api_key": provider.key,
    }
    return {
        "model_list": [{"model_name": "simulated", "litellm_params": upstream}],
        "general_settings": {"master_key": MASTER_KEY},
        "litellm_settings": {"telemetry": False},
    }


def _compared(measured: Measured, missing: Sequence[str]) -> Comparison:
    litellm = "" if missing else LITELLM.titled()
    titles = {
        "direct": "simulated provider, directly",
        "relay": "bare relay",
        "messages": "ours, Messages",
        "chat": "ours, Chat Completions",
        "litellm messages": f"{litellm}, Messages",
        "litellm chat": f"{litellm}, Chat Completions",
    }
    columns = (
        "first token, ms",
        "CPU until then, ms",
        "CPU per 1 000 tokens, ms",
        "tokens/s",
        "memory, MB",
    )
    rows = [Row(titles[name], _values(name, measured)) for name in titles if name in measured.first]
    return Comparison(columns, rows, missing)


def _values(name: str, measured: Measured) -> tuple[Spread | None, ...]:
    first, flows = measured.first[name], measured.flows[name]
    served = name != "direct"  # whose process is not ours to count
    return (
        spread([sample.ms for sample in first]),
        spread([sample.cpu for sample in first]) if served else None,
        spread([each.cpu for each in flows]) if served else None,
        spread([each.rate for each in flows]),
        single(measured.memory[name]) if served else None,
    )
