"""Gemini behind the ``Provider`` port; created by ``adapter_factory``."""

from __future__ import annotations

import contextlib
import re
from collections.abc import AsyncGenerator, Iterator
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit, urlunsplit

from jupyter_ai_shoulders.core.errors import ProviderError
from jupyter_ai_shoulders.providers.base import (
    ListedModel,
    ModelRequest,
    ProviderEvent,
    Stop,
    UsageReport,
)
from jupyter_ai_shoulders.providers.formats.token_counting import ACCEPT_JSON, request_token_count
from jupyter_ai_shoulders.providers.google.decode import GoogleDecoder
from jupyter_ai_shoulders.providers.google.encode import encode, encode_count
from jupyter_ai_shoulders.providers.google.errors import read_refusal
from jupyter_ai_shoulders.providers.google.function_names import renamed
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.request import StreamFormat, fetch_json, stream_events
from jupyter_ai_shoulders.providers.http.upstream import HttpRequest
from jupyter_ai_shoulders.providers.streaming.assembler import Assembler, used_call_ids
from jupyter_ai_shoulders.providers.vendor_json import (
    VendorObject,
    as_count,
    as_list,
    as_object,
    as_text,
)
from jupyter_ai_shoulders.wire.usage import TokenUsage

DEFAULT_AUTH = "header:x-goog-api-key"
DEFAULT_VERSION = "/v1beta"
MAX_STREAMS = 8
"""Streams per answer; each bills the prompt again."""

MAX_PAGES = 20
_VERSION = re.compile(r"/v\d+\w*$")
_ENDPOINT = re.compile(r"/(models|tunedModels)(/.*)?$")


class GoogleProvider:
    """One Gemini model."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ProviderEvent]:
        """Send the request and yield its events, ending with one ``Stop``.

        An answer longer than one stream continues in another, requested with the first one's token.
        A malformed answer is retried once if none of it was shown.
        """
        assembler = Assembler(self._endpoint.ids, used_call_ids(request))
        names = renamed(tool.name for tool in request.tools)
        answer = _Answer(GoogleDecoder(assembler, self._endpoint, names))
        for number in range(1, MAX_STREAMS + 1):
            answer.decoder.begin(may_continue=number < MAX_STREAMS)
            call = self._call(request, answer.token)
            dialect = StreamFormat(answer.decoder, read_refusal)
            events = stream_events(self._endpoint, request, call, dialect)
            try:
                async with contextlib.aclosing(events):
                    async for event in events:
                        for shown in answer.pass_on(event):
                            yield shown
            except ProviderError as error:
                if answer.should_retry(last=number == MAX_STREAMS):
                    continue
                if answer.retry_failed:
                    error.info = error.info.model_copy(update={"retryable": False})
                raise
            if not answer.continues():
                return

    async def list_models(self) -> list[ListedModel]:
        """Return the models the key can use with this format."""
        found: list[ListedModel] = []
        page = ""
        for _ in range(MAX_PAGES):
            query = {"pageSize": "1000"} | ({"pageToken": page} if page else {})
            url = api_url(self._endpoint.provider.url, "models")
            answer = await fetch_json(
                self._endpoint, self._endpoint.call(url, DEFAULT_AUTH, query=query), read_refusal
            )
            items = map(as_object, as_list(answer.get("models")))
            found += [_listed(item) for item in items if _generates(item)]
            page = as_text(answer.get("nextPageToken"))
            if not page:
                break
        return found

    async def count_tokens(self, request: ModelRequest) -> int | None:
        """Return the prompt tokens; None from a gateway that does not count."""
        path = resource(request.model)
        call = self._endpoint.call(
            api_url(self._endpoint.provider.url, f"{path}:countTokens"),
            DEFAULT_AUTH,
            body=encode_count(request, self._endpoint, path),
            headers=ACCEPT_JSON,
        )
        return await request_token_count(self._endpoint, call, read_refusal, "totalTokens")

    async def aclose(self) -> None:
        """Close the connections of this provider."""
        await self._endpoint.upstream.aclose()

    def _call(self, request: ModelRequest, token: str | None) -> HttpRequest:
        path = f"{resource(request.model)}:streamGenerateContent"
        return self._endpoint.call(
            api_url(self._endpoint.provider.url, path),
            DEFAULT_AUTH,
            body=encode(request, self._endpoint, token),
            query={"alt": "sse"},
        )


@dataclass(slots=True)
class _Answer:
    """One answer, possibly in several streams; ``spent`` is the usage of the earlier ones."""

    decoder: GoogleDecoder
    token: str | None = None
    spent: TokenUsage = field(default_factory=TokenUsage)
    total: TokenUsage = field(default_factory=TokenUsage)
    shown: bool = False
    retried: bool = False
    retry_failed: bool = False

    def pass_on(self, event: ProviderEvent) -> Iterator[ProviderEvent]:
        """Yield the visible events; usage is that of all streams."""
        if isinstance(event, UsageReport):
            self.total = _sum(self.spent, event.usage)
            yield UsageReport(self.total)
        elif not (isinstance(event, Stop) and self.decoder.continuation):
            self.shown = True
            yield event

    def should_retry(self, *, last: bool) -> bool:
        """Return whether a failed answer should be retried, and record the retry."""
        self.retry_failed = self.retried and self.decoder.malformed
        if last or self.shown or self.retried or not self.decoder.malformed:
            return False
        self.retried = True
        self.spent = self.total
        return True

    def continues(self) -> bool:
        """Return whether the answer continues in another stream."""
        self.token, self.spent = self.decoder.continuation, self.total
        return self.token is not None


def api_url(url: str, path: str) -> str:
    """Return the address of ``path``; ``url`` is the root, the version's root or an endpoint."""
    parts = urlsplit(url)
    root = _ENDPOINT.sub("", parts.path.rstrip("/"))
    version = "" if _VERSION.search(root) else DEFAULT_VERSION
    return urlunsplit(parts._replace(path=f"{root}{version}/{path}"))


def resource(model: str) -> str:
    """Return the model's resource name; names of tuned models already have one."""
    named = "/" in model and not {"", ".", ".."} & set(model.split("/"))
    return quote(model, safe="/") if named else f"models/{quote(model, safe='')}"


def _generates(item: VendorObject) -> bool:
    return "generateContent" in as_list(item.get("supportedGenerationMethods"))


def _listed(item: VendorObject) -> ListedModel:
    return ListedModel(
        name=as_text(item.get("name")).removeprefix("models/"),
        context_window=as_count(item.get("inputTokenLimit")),
        max_output=as_count(item.get("outputTokenLimit")),
        capabilities=frozenset({"thinking"} if item.get("thinking") is True else ()),
    )


def _sum(one: TokenUsage, other: TokenUsage) -> TokenUsage:
    """Return the usage of both; estimated where one of them is."""
    return TokenUsage(
        input_tokens=one.input_tokens + other.input_tokens,
        output_tokens=one.output_tokens + other.output_tokens,
        cache_read_tokens=one.cache_read_tokens + other.cache_read_tokens,
        reasoning_tokens=one.reasoning_tokens + other.reasoning_tokens,
        estimated=one.estimated or other.estimated,
    )
