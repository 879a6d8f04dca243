"""``/_sim/…``: sets the script and reads the records of a simulator process.

``PUT script`` replaces, ``POST script`` adds (body: a ``ScriptFile``), ``GET requests`` lists,
``POST reset`` clears, ``GET status`` answers when it is up. Called by ``server``.
"""

from __future__ import annotations

import json
from typing import Any, Protocol

from pydantic import ValidationError

from tests.simulator.endpoint_protocol import Whole
from tests.simulator.http import HttpRequest
from tests.simulator.request_log import Recorded
from tests.simulator.script import Script, ScriptFile

JSON = {"content-type": "application/json"}


class Controlled(Protocol):
    """What can be controlled: the simulator."""

    playing: Script

    @property
    def requests(self) -> list[Recorded]:
        """What came so far."""
        ...

    def reset(self) -> None:
        """Forget script and records."""
        ...


class Control:
    """Answers the simulator's own routes."""

    def __init__(self, simulator: Controlled) -> None:
        self._simulator = simulator

    def answer(self, request: HttpRequest) -> Whole:
        """Do what the request says."""
        try:
            body = self._do(f"{request.method} {request.path.removeprefix('/_sim/')}", request.body)
        except ValidationError as error:
            return Whole(400, JSON, error.json(include_url=False).encode())
        status = 404 if body is None else 200
        return Whole(status, JSON, json.dumps(body or {}).encode())

    def _do(self, route: str, body: bytes) -> dict[str, Any] | None:
        match route:
            case "GET status":
                return {"ok": True, "waiting_replies": len(self._simulator.playing.replies)}
            case "GET requests":
                return {"requests": [record.to_json() for record in self._simulator.requests]}
            case "POST reset":
                self._simulator.reset()
            case "PUT script":
                self._simulator.playing = Script.from_file(ScriptFile.model_validate_json(body))
            case "POST script":
                self._simulator.playing.add(ScriptFile.model_validate_json(body))
            case _:
                return None
        return {"ok": True}
