"""``/metrics`` of jupyter_server with our metrics, as a Prometheus scrapes it."""

from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from prometheus_client.metrics_core import Metric
from prometheus_client.parser import text_string_to_metric_families
from tornado.httpclient import HTTPClientError
from traitlets.config import Config

from jupyter_ai_shoulders.host.metrics import definitions
from tests.server.client import ENDED, Api
from tests.simulator import Simulator, Usage, reply


async def scrape(jp_fetch: Any) -> dict[str, Metric]:
    answer = await jp_fetch("metrics")
    found: list[Metric] = list(text_string_to_metric_families(answer.body.decode()))
    return {family.name: family for family in found}


def turns(families: dict[str, Metric]) -> float:
    samples = families["shoulders_turns"].samples if "shoulders_turns" in families else []
    return sum(each.value for each in samples if each.name == "shoulders_turns_total")


async def test_a_scrape_shows_turns_and_the_index(
    api: Api, upstream: Simulator, jp_fetch: Any
) -> None:
    upstream.script(reply("Yes.", usage=Usage(input=100, output=20)))
    session = await api.new_session()
    before = turns(await scrape(jp_fetch))
    async with api.stream(session) as stream:
        await api.send(session, "A private question")
        await stream.until(ENDED)
    await api.get("search", q="anything", wait_s=5)

    families = await scrape(jp_fetch)

    assert turns(families) == before + 1
    expected = {each.name.removesuffix("_total") for each in definitions.METRICS}
    assert expected | {each.name for each in definitions.GAUGES} <= set(families)
    states = {
        each.labels["state"]: each.value
        for each in families["shoulders_search_index_state"].samples
    }
    assert sum(states.values()) == 1
    assert "python_info" in families, "those of the server stay"
    assert "private" not in (await jp_fetch("metrics")).body.decode()


async def test_jupyter_decides_who_may_scrape(jp_fetch: Any) -> None:
    with pytest.raises(HTTPClientError) as refused:
        await jp_fetch("metrics", headers={"Authorization": "token wrong"})
    assert refused.value.code == 403


class TestSwitchedOff:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.metrics = False
        return jp_server_config

    async def test_turns_are_not_counted(
        self, api: Api, upstream: Simulator, jp_fetch: Any
    ) -> None:
        upstream.script(reply("Yes."))
        before = turns(await scrape(jp_fetch))
        session = await api.new_session()
        async with api.stream(session) as stream:
            await api.send(session, "Hi")
            await stream.until(ENDED)
        assert turns(await scrape(jp_fetch)) == before


class TestTraced:
    @pytest.fixture
    def jp_server_config(self, jp_server_config: Config) -> Config:
        jp_server_config.Shoulders.otel = True
        return jp_server_config

    @pytest.fixture(autouse=True)
    def exporter(self, monkeypatch: pytest.MonkeyPatch) -> InMemorySpanExporter:
        """The administrator's tracer provider."""
        exporter = InMemorySpanExporter()
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        monkeypatch.setattr("opentelemetry.trace.get_tracer_provider", lambda: provider)
        return exporter

    @pytest.mark.parametrize("path", ["messages", "runs"])
    async def test_a_request_with_a_trace_continues_it(
        self, api: Api, upstream: Simulator, exporter: InMemorySpanExporter, path: str
    ) -> None:
        upstream.script(reply("Yes."))
        session = await api.new_session()
        trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        body = {"id": "m1", "text": "Hi"} if path == "messages" else {"prompt": "Hi"}
        where = f"sessions/{session}/messages" if path == "messages" else "runs"
        headers = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
        sent = await api.request("POST", where, body, headers=headers)
        assert sent.status in (201, 202), sent
        followed = session if path == "messages" else sent.body["id"]
        async with api.stream(followed) as stream:
            await stream.until(ENDED)
        spans = {span.name.split()[0]: span for span in exporter.get_finished_spans()}
        assert set(spans) == {"invoke_agent", "shoulders.step", "chat"}
        assert {f"{span.context.trace_id:032x}" for span in spans.values() if span.context} == {
            trace
        }
