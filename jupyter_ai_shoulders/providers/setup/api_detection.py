"""Detects the API of a server by requesting its model list in each format. Used by
``provider_detector``.

Only the user's address is requested, with the key the user gave for it; redirects are not followed.
"""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit, urlunsplit

from jupyter_ai_shoulders.core.catalogue.specs import ProviderSpec
from jupyter_ai_shoulders.core.errors import InvalidRequest, ProviderError
from jupyter_ai_shoulders.providers.http.endpoint import Endpoint
from jupyter_ai_shoulders.providers.http.upstream import Upstream
from jupyter_ai_shoulders.providers.setup.api_signatures import (
    ORDER,
    REFUSALS,
    ProbeResponse,
    ResponseClass,
    classify_response,
)
from jupyter_ai_shoulders.wire.api.provider_setup import ApiKind

ANSWER_SECONDS = 5.0
_AUTH = {
    "ollama": "bearer",
    "google": "header:x-goog-api-key",
    "anthropic": "header:x-api-key",
    "openai_chat": "bearer",
    "openai_responses": "bearer",
}
_HEADERS = {"anthropic": {"anthropic-version": "2026-10-21"}}


@dataclass(frozen=True, slots=True)
class Probe:
    """A possible API at an address: its root, and the URL of its model list."""

    kind: ApiKind
    root: str
    url: str


@dataclass(frozen=True, slots=True)
class DetectedApi:
    """The API that answered."""

    kind: ApiKind
    url: str
    wants_key: bool


async def detect_api(
    spec: ProviderSpec,
    kind: ApiKind | None,
    make_target: Callable[[ProviderSpec], Endpoint],
    new_upstream: Callable[[], Upstream],
) -> DetectedApi:
    """Return the API of a server; ``kind`` is the only one to try, None tries all.

    Raises ``InvalidRequest`` that lists the attempts, and the errors of ``make_target``.
    """
    probes = probes_of(spec.url, kind)
    upstream = new_upstream()
    try:
        endpoints = [
            dataclasses.replace(
                make_target(spec.model_copy(update={"kind": probe.kind, "url": probe.root})),
                upstream=upstream,
            )
            for probe in probes
        ]
        asked = [_read(endpoint, probe) for endpoint, probe in zip(endpoints, probes, strict=True)]
        readings = await asyncio.gather(*asked)
    finally:
        await upstream.aclose()
    found = list(zip(probes, readings, strict=True))
    wanted: ResponseClass
    for wanted in ("speaks", "wants_key"):
        for probe, reading in found:
            if classify_response(probe.kind, reading) == wanted:
                return DetectedApi(probe.kind, probe.root, wanted == "wants_key")
    if kind is not None and any(reading.status for reading in readings):
        return DetectedApi(kind, probes[0].root, wants_key=any(map(_is_refusal, readings)))
    raise _nothing(spec.url, readings)


def probes_of(url: str, kind: ApiKind | None) -> list[Probe]:
    """Return the requests to an address, in order of preference."""
    kinds = ORDER if kind is None else (kind,)
    return [probe for each in kinds for probe in _probes(url, each)]


def _probes(url: str, kind: ApiKind) -> list[Probe]:
    parts = urlsplit(url)
    path = parts.path

    def at(root: str, name: str) -> Probe:
        return Probe(
            kind,
            urlunsplit(parts._replace(path=root)),
            urlunsplit(parts._replace(path=f"{root}{name}")),
        )

    bare = path.removesuffix("/v1").removesuffix("/v1beta").removesuffix("/api")
    match kind:
        case "ollama":
            return [at(bare, "/api/tags")]
        case "google":
            root = path if path.endswith(("/v1", "/v1beta")) else f"{path}/v1beta"
            return [at(root, "/models")]
        case "anthropic":
            return [at(bare, "/v1/models")]
        case "openai_chat" | "openai_responses":
            roots = [f"{path}/v1"] if not path else [path, f"{path}/v1"]
            return [at(root, "/models") for root in roots if not root.endswith("/v1/v1")]


async def _read(endpoint: Endpoint, probe: Probe) -> ProbeResponse:
    call = endpoint.call(probe.url, _AUTH[probe.kind], headers=_HEADERS.get(probe.kind))
    try:
        async with asyncio.timeout(ANSWER_SECONDS), endpoint.upstream.send(call) as answer:
            return ProbeResponse(probe.url, answer.status, await answer.body())
    except ProviderError as error:
        return ProbeResponse(probe.url, None, failure=error.info.message)
    except TimeoutError:
        failure = f"nothing came for {ANSWER_SECONDS:g} seconds"
        return ProbeResponse(probe.url, None, failure=failure)


def _nothing(url: str, readings: Sequence[ProbeResponse]) -> InvalidRequest:
    host = urlsplit(url).netloc
    tried = ", ".join(
        f"{reading.url} ({reading.status or 'no answer'})"
        for reading in {reading.url: reading for reading in readings}.values()
    )
    answered = [reading for reading in readings if reading.status is not None]
    if not answered:
        reason = readings[0].failure.partition(": ")[2] or readings[0].failure
        return InvalidRequest(
            f"No answer from {host}: {reason}.",
            code="provider_unreachable",
            hint=f"Check that the server is running, and its address and port. Tried {tried}.",
        )
    if any(map(_is_refusal, answered)):
        return InvalidRequest(
            f"{host} refuses the request without saying which API it is.",
            code="authentication",
            hint=f"Check the key, or choose the API under More options. Tried {tried}.",
        )
    return InvalidRequest(
        f"{host} answers, but not as a model API that is known here.",
        code="provider_protocol",
        hint="Give the root of its API, for instance ending in /v1, or choose the API under More"
        f" options. Tried {tried}.",
    )


def _is_refusal(reading: ProbeResponse) -> bool:
    return reading.status in REFUSALS
