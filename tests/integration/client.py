"""A plain HTTP client of the API, as in a user's script: only urllib."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tests.support.lab_server import Lab


@dataclass(frozen=True, slots=True)
class Answer:
    """Status and JSON body of an answer."""

    status: int
    body: Any


@dataclass(frozen=True, slots=True)
class Api:
    """The routes below ``shoulders/api/v1`` of a running server."""

    lab: Lab

    def get(self, path: str) -> Any:
        """GET; the body of a 200."""
        answer = self.call("GET", path)
        assert answer.status == 200, answer
        return answer.body

    def post(self, path: str, body: Any) -> Any:
        """POST; the body of a success."""
        answer = self.call("POST", path, body)
        assert answer.status < 300, answer
        return answer.body

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """Send a request; return any answer."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        request = self._request(path, method=method, data=None if body is None else data)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                text = answer.read()
                return Answer(answer.status, json.loads(text) if text else None)
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, json.loads(error.read()))

    def session(self, **fields: Any) -> str:
        """Create a session; return its id."""
        return self.post("sessions", fields)["id"]

    def send(self, session: str, text: str, *, message: str = "m1", **fields: Any) -> None:
        """Send a user message."""
        self.post(f"sessions/{session}/messages", {"id": message, "text": text, **fields})

    def stream(self, session: str, after: int = 0) -> Iterator[dict[str, Any]]:
        """Yield the session's events as the server streams them."""
        for text in self.stream_texts(session, after):
            yield json.loads(text)

    def stream_texts(self, session: str, after: int = 0) -> Iterator[str]:
        """Yield the events as text, as the server streams them."""
        request = self._request(f"sessions/{session}/events", query=f"after={after}")
        request.add_header("Accept", "text/event-stream")
        with urllib.request.urlopen(request, timeout=120) as answer:
            assert answer.headers["Content-Type"].startswith("text/event-stream")
            for line in answer:
                if line.startswith(b"data:"):
                    yield line.removeprefix(b"data:").decode().strip()

    def turn(self, session: str, after: int = 0) -> list[dict[str, Any]]:
        """Follow a turn to its end and allow every request; return its events."""
        seen: list[dict[str, Any]] = []
        for event in self.stream(session, after):
            seen.append(event)
            if event["type"] == "approval-request":
                self.post(f"sessions/{session}/approvals/{event['call_id']}", {"decision": "allow"})
            if event["type"] == "turn-end":
                break
        return seen

    def _request(
        self, path: str, *, query: str = "", method: str = "GET", data: bytes | None = None
    ) -> urllib.request.Request:
        url = f"http://127.0.0.1:{self.lab.port}{self.lab.base_url}shoulders/api/v1/{path}"
        request = urllib.request.Request(
            f"{url}?{query}" if query else url, data=data, method=method
        )
        request.add_header("Authorization", f"token {self.lab.token}")
        request.add_header("Content-Type", "application/json")
        return request


def of_type(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    """The events of one type."""
    return [event for event in events if event["type"] == kind]
