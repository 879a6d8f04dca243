"""Resources and prompts of servers."""

from __future__ import annotations

import mcp_types as types

from jupyter_ai_shoulders.core.clock import SystemClock
from jupyter_ai_shoulders.host.mcp_client.server_content import MAX_CONTENT, ServerContent
from jupyter_ai_shoulders.wire.parts import TextPart
from tests.tools.mcp.fake_servers import FakePool, FakeServer


def content(server: FakeServer) -> ServerContent:
    return ServerContent(FakePool(server), SystemClock())


async def test_resources_are_found_by_words_and_limited():
    listed = [types.Resource(name=f"Table {n}\u202e", uri=f"db://t/{n}") for n in range(300)]
    found = content(FakeServer(resources=listed))
    [match] = (await found.resources("table 299")).resources
    assert (match.server, match.uri, match.name) == ("demo", "db://t/299", "Table 299\\u202e")
    everything = await found.resources("")
    assert (len(everything.resources), everything.complete) == (50, False)


async def test_a_resource_is_captured_for_a_message():
    captured = await content(FakeServer()).capture("demo", "db://t/1", images=False)
    [part] = captured.content
    assert isinstance(part, TextPart)
    assert part.text == "[resource db://t/1]\ncontent of db://t/1"


async def test_a_long_resource_is_cut_and_said():
    class Long(FakeServer):
        async def read_resource(self, uri: str) -> types.ReadResourceResult:
            text = types.TextResourceContents(uri=uri, text="x" * 1_000_000)
            return types.ReadResourceResult(contents=[text])

    captured = await content(Long()).capture("demo", "db://t/1", images=False)
    assert sum(len(part.text) for part in captured.content if isinstance(part, TextPart)) == (
        MAX_CONTENT
    )
    assert captured.note == "only its first 50 KB are shown"


async def test_prompts_are_listed_and_filled_in():
    argument = types.PromptArgument(name="topic", required=True)
    listed = [types.Prompt(name="explain", arguments=[argument])]
    found = content(FakeServer(prompts=listed))
    [prompt] = (await found.prompts()).prompts
    assert (prompt.name, prompt.arguments[0].required) == ("explain", True)
    text = await found.prompt("demo", "explain", {"topic": "joins"})
    assert text.text == "explain with {'topic': 'joins'}"
