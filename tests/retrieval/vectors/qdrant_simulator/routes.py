"""The routes of the simulated server: each checks its request and builds its answer.

Requests and answers are validated with the models that ``qdrant-client`` ships, which are generated
from Qdrant's published OpenAPI description. What the description allows and the store has no reason
to send, such as a query without a filter, is refused as well.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import parse_qsl
from uuid import UUID

from tests.retrieval.vectors.qdrant_simulator.collections import StoredCollection, StoredPoint
from tests.simulator.http import HttpRequest
from tests.simulator.refusal import RequestRefused

Handler = Callable[[str, Mapping[str, Any]], Any]
_PATH = re.compile(r"/collections(?:/([\w.-]{1,255})(/[a-z/]+)?)?")
_MOST_BODY = 32 << 20
"""Bytes of a body that a server takes by default (``service.max_request_size_mb``)."""


class Routes:
    """Answers requests from the collections it keeps."""

    def __init__(self) -> None:
        self.collections: dict[str, StoredCollection] = {}
        self._models: Any = importlib.import_module("qdrant_client.http.models")
        self._operations = 0
        models = self._models
        self._table: dict[str, tuple[Handler, Any, Any, Mapping[str, str]]] = {
            "GET": (self._list, None, models.InlineResponse2006, {}),
            "GET ": (self._describe, None, models.InlineResponse2007, {}),
            "PUT ": (self._create, models.CreateCollection, models.InlineResponse2001, {}),
            "PUT /index": (
                *(self._index, models.CreateFieldIndex, models.InlineResponse2008),
                {"wait": "true"},
            ),
            "PUT /points": (
                *(self._upsert, models.PointsList, models.InlineResponse2008),
                {"wait": "true"},
            ),
            "POST /points/delete": (
                *(self._delete, models.FilterSelector, models.InlineResponse2008),
                {"wait": "true"},
            ),
            "POST /points/scroll": (
                *(self._scroll, models.ScrollRequest, models.InlineResponse20019),
                {},
            ),
            "POST /points/query": (
                *(self._query, models.QueryRequest, models.InlineResponse20022),
                {},
            ),
            "POST /points/count": (
                *(self._count, models.CountRequest, models.InlineResponse20020),
                {},
            ),
        }

    def answer(self, request: HttpRequest) -> bytes:
        """Return the body of the answer. Raises ``RequestRefused``."""
        path = _PATH.fullmatch(request.path)
        entry = self._table.get(_route(request.method, path)) if path else None
        if path is None or entry is None:
            raise RequestRefused("Not found", status=404)
        handle, request_model, answer_model, parameters = entry
        if dict(parse_qsl(request.query)) != parameters:
            raise RequestRefused(f"The query is {request.query!r}, not {parameters}")
        result = handle(path[1] or "", self._body(request, request_model))
        answer = {"usage": None, "time": 0.000_1, "status": "ok", "result": result}
        answer_model.model_validate(answer)
        return json.dumps(answer).encode()

    def _body(self, request: HttpRequest, model: Any) -> Mapping[str, Any]:
        """Return the validated body."""
        if model is None:
            if request.body:
                raise RequestRefused("A body was sent with GET")
            return {}
        if request.headers.get("content-type") != "application/json":
            raise RequestRefused("Content-Type is not application/json", status=415)
        if len(request.body) > _MOST_BODY:
            raise RequestRefused("JSON payload has exceeded the limit", status=413)
        sent = json.loads(request.body)
        checked = model.model_validate_json(request.body).model_dump(
            mode="json", exclude_unset=True
        )
        if _without_enums(checked) != sent:
            raise RequestRefused(f"Not all of the body is understood: {request.body[:200]!r}")
        return sent

    def _collection(self, name: str) -> StoredCollection:
        if name not in self.collections:
            raise RequestRefused(f"Not found: Collection `{name}` doesn't exist!", status=404)
        return self.collections[name]

    def _list(self, _name: str, _: Mapping[str, Any]) -> Any:
        return {"collections": [{"name": name} for name in self.collections]}

    def _describe(self, name: str, _: Mapping[str, Any]) -> Any:
        collection = self._collection(name)
        indexes = {
            field: {"data_type": "keyword", "params": schema, "points": len(collection.points)}
            for field, schema in collection.indexes.items()
        }
        return {
            "status": "green",
            "optimizer_status": "ok",
            "points_count": len(collection.points),
            "segments_count": 2,
            "payload_schema": indexes,
            "config": {
                "params": {"vectors": collection.settings["vectors"], "on_disk_payload": True},
                "hnsw_config": {
                    "m": 16,
                    "ef_construct": 100,
                    "full_scan_threshold": 10_000,
                    **collection.settings["hnsw_config"],
                },
                "optimizer_config": {"default_segment_number": 0, "flush_interval_sec": 5},
            },
        }

    def _create(self, name: str, body: Mapping[str, Any]) -> Any:
        if name in self.collections:
            raise RequestRefused(f"Wrong input: Collection `{name}` already exists!", status=409)
        if set(body) != {"vectors", "hnsw_config", "on_disk_payload"}:
            raise RequestRefused(f"Unexpected settings: {sorted(body)}")
        if not 1 <= body["vectors"]["size"] <= 65_536 or body["vectors"]["distance"] != "Cosine":
            raise RequestRefused("Validation error in JSON body: vectors")
        self.collections[name] = StoredCollection(body)
        return True

    def _index(self, name: str, body: Mapping[str, Any]) -> Any:
        self._collection(name).indexes[body["field_name"]] = body["field_schema"]
        return self._completed()

    def _upsert(self, name: str, body: Mapping[str, Any]) -> Any:
        collection = self._collection(name)
        points = [_point(each) for each in body["points"]]
        if not points or len({point.id for point in points}) != len(points):
            raise RequestRefused("No points, or an id twice")
        collection.upsert(points)
        return self._completed()

    def _delete(self, name: str, body: Mapping[str, Any]) -> Any:
        collection = self._collection(name)
        for point in [*collection.matching(body["filter"])]:
            del collection.points[point.id]
        return self._completed()

    def _scroll(self, name: str, body: Mapping[str, Any]) -> Any:
        found = sorted(self._collection(name).matching(_filter(body)), key=lambda each: each.id)
        shown = found[: _limit(body)]
        more = found[len(shown)].id if len(found) > len(shown) else None
        points = [{"id": each.id, "payload": _payload(each, body)} for each in shown]
        return {"points": points, "next_page_offset": more}

    def _query(self, name: str, body: Mapping[str, Any]) -> Any:
        (query,) = body["query"].values()
        if set(body["query"]) != {"nearest"} or not isinstance(query, list):
            raise RequestRefused(f"Not a nearest vector: {str(body['query'])[:200]}")
        vector = [*map(float, cast("list[float]", query))]
        ranked = self._collection(name).nearest(vector, _filter(body), _limit(body))
        return {
            "points": [
                {"id": point.id, "version": 1, "score": score, "payload": _payload(point, body)}
                for point, score in ranked
            ]
        }

    def _count(self, name: str, body: Mapping[str, Any]) -> Any:
        if body.get("exact") is not True:
            raise RequestRefused("The count is not exact")
        return {"count": len([*self._collection(name).matching(_filter(body))])}

    def _completed(self) -> Any:
        self._operations += 1
        return {"operation_id": self._operations, "status": "completed"}


def _route(method: str, path: re.Match[str]) -> str:
    """Return the key of a route: the method, and the path within a collection if it names one."""
    return method if path[1] is None else f"{method} {path[2] or ''}"


def _point(sent: Mapping[str, Any]) -> StoredPoint:
    """Return a point; its id is a UUID and its vector a list of numbers."""
    payload = sent["payload"]
    if set(payload) != {"tenant", "digest"}:
        raise RequestRefused(f"Unexpected payload: {sorted(payload)}")
    return StoredPoint(str(UUID(sent["id"])), tuple(map(float, sent["vector"])), payload)


def _filter(body: Mapping[str, Any]) -> Mapping[str, Any]:
    if "filter" not in body:
        raise RequestRefused("The request has no filter")
    return body["filter"]


def _limit(body: Mapping[str, Any]) -> int:
    if body.get("with_vector") is not False or body["limit"] < 1:
        raise RequestRefused("Vectors are asked for, or nothing is")
    return body["limit"]


def _payload(point: StoredPoint, body: Mapping[str, Any]) -> Mapping[str, Any]:
    return {name: point.payload[name] for name in body["with_payload"]}


def _without_enums(value: Any) -> Any:
    """Return the value as JSON has it."""
    return json.loads(json.dumps(value))
