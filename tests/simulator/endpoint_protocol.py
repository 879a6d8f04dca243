"""The types between the server and the endpoint of a format: a checked request, a reply.

Separate, so that endpoints do not import the server.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from tests.simulator.chaos_stream import SseEvent
from tests.simulator.http import HttpRequest
from tests.simulator.refusal import RequestRefused
from tests.simulator.script import Delivery, Failure, Reply, SimRequest

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Whole:
    """An answer in one piece. ``is_cut``: the connection is closed in the middle of its body."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Stream:
    """An answer as server-sent events."""

    headers: Mapping[str, str]
    events: Sequence[SseEvent]
    delivery: Delivery


Answer = Whole | Stream


class Accepted(Protocol):
    """A request that passed every check and waits for its reply."""

    @property
    def request(self) -> SimRequest:
        """The request as scripts see it."""
        ...

    def answer(self, reply: Reply) -> Stream | Mapping[str, Any] | Sequence[Any]:
        """Return the stream asked for, or the body of an answer in one piece."""
        ...


class Endpoint(Protocol):
    """One format: what it refuses, how it words errors, how it answers."""

    def accept(self, request: HttpRequest) -> Accepted:
        """Check a request for an answer. Raises ``RequestRefused``."""
        ...

    def refusal(self, refused: RequestRefused, request_id: str, /) -> Mapping[str, Any]:
        """Return the body of a refusal."""
        ...

    def failure(self, failure: Failure, request_id: str, /) -> Mapping[str, Any]:
        """Return the body of a scripted failure."""
        ...

    def request_id_header(self) -> str:
        """Return the name of the header that carries the request id."""
        ...


def with_failure(
    events: Sequence[Item], failure: Failure | None, instead: Sequence[Item]
) -> list[Item]:
    """Return the events, replaced by the failure's from the place it names."""
    if failure is None or failure.after is None:
        return list(events)
    return [*events[: failure.after], *instead]
