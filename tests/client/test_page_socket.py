"""The page socket, opened by a program."""

from __future__ import annotations

import json

import pytest

from jupyter_ai_shoulders.client import Client, NotAllowed, Unreachable
from jupyter_ai_shoulders.client.page_socket import open_socket
from tests.client.conftest import ClientServer
from tests.support.lab_server import free_port

HELLO = '{"type": "hello", "client_id": "c", "wire_version": 1, "cursors": {}}'


def test_a_socket_talks_to_the_server(client: Client) -> None:
    opened = open_socket(client.connection)
    try:
        opened.send(HELLO)
        welcome = json.loads(opened.recv())
    finally:
        opened.close()

    assert welcome["type"] == "welcome"


def test_another_server_s_token_opens_no_socket(place: ClientServer) -> None:
    with (
        Client(place.url, "another's", environ={}) as client,
        pytest.raises(NotAllowed, match="does not take this token"),
    ):
        open_socket(client.connection)


def test_what_is_no_server_of_ours_opens_no_socket(place: ClientServer) -> None:
    with (
        Client(f"{place.url}elsewhere/", place.lab.token, environ={}) as client,
        pytest.raises(Unreachable, match="answers 404 where a socket was to open"),
    ):
        open_socket(client.connection)


def test_where_nothing_listens_no_socket_opens() -> None:
    with (
        Client(f"http://127.0.0.1:{free_port()}/", "t", environ={}) as client,
        pytest.raises(Unreachable, match="does not open a socket"),
    ):
        open_socket(client.connection)
