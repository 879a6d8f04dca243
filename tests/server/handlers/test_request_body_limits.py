"""A body that would block the event loop is refused before it is parsed, on every route.

``python -m tests.bench.load_bounds`` measures the durations.
"""

import json
from typing import Any

import pytest

from jupyter_ai_shoulders.core.errors import InvalidRequest, TooLarge
from jupyter_ai_shoulders.server.handlers.request_body import (
    MAX_VALUES,
    MESSAGE_BYTES,
    SMALL_BODY_BYTES,
    parse_body,
)
from jupyter_ai_shoulders.wire.api.commands import (
    LONGEST_MESSAGE,
    MOST_ATTACHMENTS,
    AnswerApproval,
    SendMessage,
)
from jupyter_ai_shoulders.wire.api.settings import PutSettings
from tests.server.auth.test_route_authorization import WRITES
from tests.server.client import Api, Fetch
from tests.server.conftest import OpenPage

BODIES = {
    "unknown keys": json.dumps({f"k{number}": number for number in range(60_000)}).encode(),
    "array": b'{"text":[1' + b",1" * 400_000 + b"]}",
    "nesting": b'{"text":' + b"[" * 200,
}
PROXIED = ("v1/messages", "v1/chat/completions", "v1/responses", "v1beta/models/x:generateContent")


@pytest.mark.parametrize("kind", BODIES)
async def test_every_route_refuses_a_body_that_takes_long_to_parse(api: Api, kind: str) -> None:
    for method, path in WRITES:
        if method != "DELETE":  # the fetcher sends no body with it
            answer = await api.request(method, path, raw=BODIES[kind])
            assert (answer.status, answer.code) == (413, "too_large"), (method, path)


@pytest.mark.parametrize(
    ("path", "most"),
    [("settings", SMALL_BODY_BYTES), ("sessions/x/messages", MESSAGE_BYTES)],
    ids=["small", "with pictures"],
)
async def test_a_route_takes_as_many_bytes_as_it_has_use_for(
    api: Api, path: str, most: int
) -> None:
    method = "PUT" if path == "settings" else "POST"
    fits, refused = [await api.request(method, path, raw=b" " * (most + more)) for more in (0, 1)]

    assert fits.status in {400, 404}
    assert (refused.status, refused.code) == (413, "too_large")
    assert f"at most {most >> 20} MB" in refused.error["message"]


@pytest.mark.parametrize("path", PROXIED)
async def test_the_model_proxy_refuses_a_body_that_takes_long_to_parse(
    jp_fetch: Fetch, path: str
) -> None:
    for kind, body in BODIES.items():
        answer = await jp_fetch(
            "shoulders", "proxy", *path.split("/"), method="POST", body=body, raise_error=False
        )
        assert answer.code == 413, kind
        assert "error" in json.loads(answer.body), kind


async def test_a_frame_that_takes_long_to_parse_is_refused(open_page: OpenPage) -> None:
    page = await open_page()
    page.hello()
    await page.until("welcome")

    for fields in ({"cells": [1] * 400_000}, dict.fromkeys(map(str, range(2_000)))):
        page.say("document-open", **fields)
        error = (await page.until("frame-error"))["error"]
        assert error["code"] in {"too_large", "invalid_request"}
        assert "more than 300,000 values" in error["message"] or "fields" in error["message"]


def _settings(unknown: int) -> bytes:
    return json.dumps({"models": {f"k{number}": 1 for number in range(unknown)}}).encode()


@pytest.mark.parametrize(
    ("unknown", "message", "listed"),
    [
        (20, "models.k0: Extra inputs are not permitted.", 10),
        (MAX_VALUES - 10, "The request has 29,990 wrong or unknown fields.", 0),
    ],
    ids=["some", "many"],
)
def test_only_some_mistakes_are_listed(unknown: int, message: str, listed: int) -> None:
    with pytest.raises(InvalidRequest) as raised:
        parse_body(PutSettings, _settings(unknown))

    info = raised.value.info
    assert info.message == message
    assert len((info.details or {}).get("fields", {})) == listed  # pyright: ignore[reportArgumentType]: JSON


def test_the_first_wrong_item_of_a_list_ends_the_check() -> None:
    body = json.dumps({"id": "a", "text": "x", "attachments": [1] * 50}).encode()
    with pytest.raises(InvalidRequest) as raised:
        parse_body(SendMessage, body)

    details = raised.value.info.details or {}
    assert list(details["fields"]) == ["attachments.0"]  # pyright: ignore[reportArgumentType]: JSON


FILE = {"kind": "file", "path": "a.csv"}
SELECTION = {
    "kind": "selection",
    "path": "a.py",
    "cell_id": None,
    "before": "",
    "after": "",
    "range": {"from": 0, "to": 1},
}
IMAGE = {"kind": "image", "media_type": "image/png", "blob": None}


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"text": "é" * (LONGEST_MESSAGE - 1)}, None),
        ({"text": "é" * LONGEST_MESSAGE}, TooLarge),
        ({"attachments": [{**SELECTION, "text": "x" * LONGEST_MESSAGE}]}, TooLarge),
        ({"context": {"open_documents": ["x" * LONGEST_MESSAGE]}}, TooLarge),
        ({"attachments": [{**IMAGE, "data": "A" * 3 * LONGEST_MESSAGE}]}, None),
        ({"attachments": [FILE] * MOST_ATTACHMENTS}, None),
        ({"attachments": [FILE] * (MOST_ATTACHMENTS + 1)}, InvalidRequest),
    ],
    ids=["long", "too long", "selection", "context", "picture", "attachments", "too many"],
)
def test_a_message_is_bounded_with_all_it_carries_but_pictures(
    fields: dict[str, Any], error: type[Exception] | None
) -> None:
    message: dict[str, Any] = {"id": "m", "text": "", **fields}
    message["text"] = message["text"] or "x"
    body = json.dumps(message, ensure_ascii=False).encode()

    if error is None:
        assert parse_body(SendMessage, body).id == "m"
        return
    with pytest.raises(error):
        parse_body(SendMessage, body)


async def test_a_message_that_is_too_long_is_answered_with_what_to_do(api: Api) -> None:
    session_id = await api.new_session()

    refused = await api.send(session_id, "x" * (LONGEST_MESSAGE + 1))

    assert (refused.status, refused.code) == (413, "too_large")
    assert refused.error["message"] == (
        "The message has 1000003 characters; at most 1000000 are accepted."
    )
    assert "attach the file" in refused.error["hint"]


def test_an_empty_body_is_an_empty_object() -> None:
    with pytest.raises(InvalidRequest, match="decision: Field required"):
        parse_body(AnswerApproval, b"")
