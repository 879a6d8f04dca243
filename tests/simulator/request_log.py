"""Records of requests and replies, for assertions; filled by ``server``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.simulator.chaos_stream import Outcome
from tests.simulator.http import HttpRequest
from tests.simulator.script import SimRequest


@dataclass(slots=True)
class Recorded:
    """One request. ``seen`` is set when it passed the checks, ``refusal`` when it did not."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any
    request_id: str | None = None
    status: int | None = None
    refusal: str | None = None
    seen: SimRequest | None = None
    outcome: Outcome | None = None
    """How the stream ended; ``client-left`` when the caller closed it, as a cancel should."""

    def to_json(self) -> Mapping[str, Any]:
        """Return the record for ``GET /_sim/requests``; the key is left out."""
        secret = ("authorization", "x-api-key", "x-goog-api-key")
        return {
            "method": self.method,
            "path": self.path,
            "headers": {name: text for name, text in self.headers.items() if name not in secret},
            "body": self.body,
            "request_id": self.request_id,
            "status": self.status,
            "refusal": self.refusal,
            "outcome": self.outcome,
        }


@dataclass(slots=True)
class Records:
    """All requests in the order they came."""

    items: list[Recorded] = field(default_factory=list[Recorded])

    def add(self, request: HttpRequest) -> Recorded:
        """Remember a request."""
        record = Recorded(request.method, request.path, request.headers, json_or_text(request.body))
        self.items.append(record)
        return record

    def forget(self, record: Recorded) -> None:
        """Take back a request that was for the simulator itself."""
        self.items.remove(record)


def json_or_text(body: bytes) -> Any:
    """Return a body as JSON, as text when it is not, None when there is none."""
    try:
        return json.loads(body) if body else None
    except ValueError:
        return body.decode("utf-8", "replace")
