"""The simulator: accepts sockets, routes requests, plays the script and remembers what it was sent.

In a test::

    async with Simulator() as simulator:
        simulator.script("Hello", reply(ToolUse(name="run_cell", arguments={"path": "a.ipynb"})))
        client = AsyncAnthropic(base_url=simulator.url, api_key=simulator.key)

Clients of OpenAI's formats use ``openai_url``, all others ``url``. As a process: see ``__main__``.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any, Literal, Self

from tests.simulator.anthropic.endpoint import MessagesEndpoint
from tests.simulator.chaos_stream import deliver
from tests.simulator.chunking import Counter
from tests.simulator.control_api import Control
from tests.simulator.embeddings.endpoints import (
    EmbeddingEndpoint,
    GoogleEmbeddings,
    OllamaEmbeddings,
    OpenAIEmbeddings,
)
from tests.simulator.endpoint_protocol import Answer, Endpoint, Stream, Whole
from tests.simulator.fill_in_the_middle.endpoint import FillInEndpoint
from tests.simulator.google.endpoint import GenerateContentEndpoint
from tests.simulator.http import (
    BadHttp,
    ConnectionProtocol,
    HttpConnection,
    HttpRequest,
    head_bytes,
)
from tests.simulator.ollama.endpoint import OllamaEndpoint
from tests.simulator.openai_chat.endpoint import ChatEndpoint
from tests.simulator.openai_chat.models import CHAT_MODELS, ChatModel
from tests.simulator.openai_responses.endpoint import ResponsesEndpoint
from tests.simulator.openai_responses.models import (
    RESPONSES_MODELS,
    ResponsesModel,
)
from tests.simulator.refusal import RequestRefused
from tests.simulator.request_log import Recorded, Records
from tests.simulator.script import (
    Entry,
    Failure,
    Rule,
    Script,
    ScriptExhausted,
)

DEFAULT_KEY = "sim-key-0123456789"

log = logging.getLogger(__name__)


class Simulator:
    """A provider on 127.0.0.1. Use as an async context manager.

    ``windows`` shrinks context windows of Claude and Gemini models by name, ``chat_models`` and
    ``responses_models`` add models to the two OpenAI sides.
    """

    def __init__(
        self,
        *,
        port: int = 0,
        key: str = DEFAULT_KEY,
        windows: Mapping[str, int] | None = None,
        chat_models: Mapping[str, ChatModel] | None = None,
        responses_models: Mapping[str, ResponsesModel] | None = None,
    ) -> None:
        self.key = key
        self.records = Records()
        self.playing = Script()
        self.embedding_faults: list[Failure | Literal["cut"] | None] = []
        """What the next correct requests for embeddings get instead of vectors: an error, half an
        answer, or None for vectors. Independent of the script, which background calls must not use
        up.
        """
        self._port = port
        counter = Counter()
        keys = frozenset({key})
        self._messages = MessagesEndpoint(keys, counter, windows or {})
        self._chat = ChatEndpoint(keys, counter, {**CHAT_MODELS, **(chat_models or {})})
        self._responses = ResponsesEndpoint(
            keys, counter, {**RESPONSES_MODELS, **(responses_models or {})}
        )
        self._google = GenerateContentEndpoint(keys, counter, windows or {})
        self._ollama = OllamaEndpoint(counter)
        self._fill_in = FillInEndpoint(keys, counter)
        self._embeddings: tuple[EmbeddingEndpoint, ...] = (
            OpenAIEmbeddings(keys),
            GoogleEmbeddings(keys),
            OllamaEmbeddings(),
        )
        self._control = Control(self)
        self._request_ids = Counter()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._answering = 0
        self._idle = asyncio.Event()
        self._idle.set()

    async def start(self) -> None:
        """Begin to listen."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: ConnectionProtocol(self._accept), "127.0.0.1", self._port
        )
        self._port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Stop listening and drop every connection."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def __aenter__(self) -> Self:
        """Begin to listen."""
        await self.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening and drop every connection."""
        await self.stop()

    @property
    def url(self) -> str:
        """The base URL for Anthropic clients."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def openai_url(self) -> str:
        """The base URL for OpenAI clients."""
        return f"{self.url}/v1"

    @property
    def requests(self) -> list[Recorded]:
        """What came so far, refused requests included."""
        return self.records.items

    def script(self, *entries: Entry) -> None:
        """Add replies, one per request: a ``Reply``, text, or a function of the request."""
        self.playing.replies.extend(entries)

    def rules(self, *rules: Rule) -> None:
        """Add rules, asked in order when no scripted reply is left."""
        self.playing.rules.extend(rules)

    def default(self, entry: Entry) -> None:
        """Answer like this when nothing else is left."""
        self.playing.default = entry

    def reset(self) -> None:
        """Forget script and records."""
        self.records = Records()
        self.playing = Script()
        self.embedding_faults = []

    async def settled(self) -> None:
        """Wait until no answer is being sent any more, as after a client has left."""
        await self._idle.wait()

    def _accept(self, connection: HttpConnection) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, connection: HttpConnection) -> None:
        try:
            while await self._exchange(connection):
                pass
        except ConnectionError:
            log.debug("The client dropped the connection.")
        except BadHttp as error:
            await connection.send(head_bytes(400, {"content-length": "0", "x-why": str(error)}))
        finally:
            await connection.close()

    async def _exchange(self, connection: HttpConnection) -> bool:
        """Answer one request; return whether the connection can take another."""
        request = await connection.read_request()
        if request is None:
            return False
        self._answering += 1
        self._idle.clear()
        try:
            return await self._send_answer(connection, request)
        finally:
            self._answering -= 1
            if not self._answering:
                self._idle.set()

    async def _send_answer(self, connection: HttpConnection, request: HttpRequest) -> bool:
        record = self.records.add(request)
        answer = self._answer(request, record)
        if isinstance(answer, Whole):
            headers = {**answer.headers, "content-length": str(len(answer.body))}
            body = answer.body[: len(answer.body) // 2] if answer.is_cut else answer.body
            await connection.send(head_bytes(answer.status, headers) + body)
            return not answer.is_cut
        headers = {**answer.headers, "transfer-encoding": "chunked"}
        await connection.send(head_bytes(200, headers))
        try:
            record.outcome = await deliver(connection, answer.events, answer.delivery)
        except ConnectionError:
            record.outcome = "client-left"
            raise
        return record.outcome == "sent"

    def _answer(self, request: HttpRequest, record: Recorded) -> Answer:
        if request.path.startswith("/_sim/"):
            self.records.forget(record)
            return self._control.answer(request)
        endpoint = self._endpoint(request)
        request_id = self._request_ids.new("req_sim")
        headers = {endpoint.request_id_header(): request_id, "content-type": "application/json"}
        record.request_id = request_id
        try:
            answer = self._route(request, record, headers)
        except RequestRefused as refused:
            record.status, record.refusal = refused.status, refused.message
            return whole(refused.status, headers, endpoint.refusal(refused, request_id))
        record.status = answer.status if isinstance(answer, Whole) else 200
        return answer

    def _endpoint(self, request: HttpRequest) -> Endpoint | EmbeddingEndpoint:
        return self._embedding_endpoint(request) or self._scripted_endpoint(request)

    def _scripted_endpoint(self, request: HttpRequest) -> Endpoint:
        """Return a request's format; ``/v1/models`` is recognised by the version header."""
        own = self._with_own_paths(request)
        if own is not None:
            return own
        if request.path.startswith("/v1/responses"):
            return self._responses
        messages = request.path.startswith("/v1/messages")
        return self._messages if messages or "anthropic-version" in request.headers else self._chat

    def _route(self, request: HttpRequest, record: Recorded, headers: Mapping[str, str]) -> Answer:
        embeddings = self._embedding_endpoint(request)
        if embeddings is not None:
            return self._embed(embeddings, request, headers)
        own = self._with_own_paths(request)
        if own is None:
            return self._route_v1(request, record, headers)
        if own.plays(request):
            return self._play(request, record, headers)
        return whole(200, headers, own.look_up(request))

    def _embedding_endpoint(self, request: HttpRequest) -> EmbeddingEndpoint | None:
        return next((each for each in self._embeddings if each.serves(request)), None)

    def _embed(
        self, endpoint: EmbeddingEndpoint, request: HttpRequest, headers: Mapping[str, str]
    ) -> Whole:
        """Return vectors, or the next scripted fault."""
        answer = whole(200, headers, endpoint.embed(request))
        fault = self.embedding_faults.pop(0) if self.embedding_faults else None
        if fault is None:
            return answer
        if fault == "cut":
            return replace(answer, is_cut=True)
        return failed(endpoint, fault, headers, headers[endpoint.request_id_header()])

    def _with_own_paths(
        self, request: HttpRequest
    ) -> GenerateContentEndpoint | OllamaEndpoint | FillInEndpoint | None:
        """Return the format whose paths are unlike those of the others, if it is one."""
        own = (self._google, self._ollama, self._fill_in)
        return next((endpoint for endpoint in own if endpoint.serves(request)), None)

    def _route_v1(
        self, request: HttpRequest, record: Recorded, headers: Mapping[str, str]
    ) -> Answer:
        match f"{request.method} {request.path}":
            case "POST /v1/messages" | "POST /v1/chat/completions" | "POST /v1/responses":
                return self._play(request, record, headers)
            case "POST /v1/messages/count_tokens":
                return whole(200, headers, self._messages.count(request))
            case "POST /v1/responses/input_tokens":
                return whole(200, headers, self._responses.count(request))
            case "GET /v1/models" if "anthropic-version" in request.headers:
                return whole(200, headers, self._messages.models(request))
            case "GET /v1/models":
                return whole(200, headers, self._chat.models(request))
            case _:
                raise RequestRefused("Not found", status=404, type="not_found_error")

    def _play(self, request: HttpRequest, record: Recorded, headers: Mapping[str, str]) -> Answer:
        endpoint = self._scripted_endpoint(request)
        accepted = endpoint.accept(request)
        record.seen = accepted.request
        try:
            reply = self.playing.next(accepted.request)
        except ScriptExhausted as error:
            raise RequestRefused(str(error), status=500, type="api_error") from error
        request_id = headers[endpoint.request_id_header()]
        if reply.failure is not None and reply.failure.after is None:
            return failed(endpoint, reply.failure, headers, request_id)
        answer = accepted.answer(reply)
        if isinstance(answer, Stream):
            return Stream(
                {**headers, "content-type": "text/event-stream; charset=utf-8", **answer.headers},
                answer.events,
                answer.delivery,
            )
        return whole(200, headers, answer)


def whole(
    status: int, headers: Mapping[str, str], body: Mapping[str, Any] | Sequence[Any]
) -> Whole:
    """Return a JSON answer."""
    return Whole(status, headers, json.dumps(body).encode())


def failed(
    endpoint: Endpoint | EmbeddingEndpoint,
    failure: Failure,
    headers: Mapping[str, str],
    request_id: str,
) -> Whole:
    """Return a scripted failure that takes the place of the whole answer."""
    named = {**headers, "content-type": failure.content_type, **failure.headers}
    if failure.body is not None:
        return Whole(failure.status, named, failure.body.encode())
    return whole(failure.status, named, endpoint.failure(failure, request_id))
