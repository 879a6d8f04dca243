"""Decoding a kernel's messages: equal to jupyter_client's, with the dates as text."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jupyter_client.session import Session

from jupyter_ai_shoulders.notebook.kernels.message_decoding import KernelSession

KEY = b"0123456789abcdef"


def frames(sender: Session, content: dict[str, Any] | None = None) -> list[bytes]:
    parent = sender.msg("execute_request", {"code": "1"})
    status = sender.msg("status", content or {"execution_state": "busy"}, parent=parent)
    return sender.feed_identities(sender.serialize(status))[1]  # pyright: ignore[reportReturnType]  bytes went in


def test_a_message_is_read_as_jupyter_client_reads_it_but_for_the_dates() -> None:
    sent = frames(Session(key=KEY), {"execution_state": "busy", "at": "2026-11-22T10:00:00Z"})
    ours, theirs = KernelSession(key=KEY).deserialize(sent), Session(key=KEY).deserialize(sent)
    for header in ("header", "parent_header"):
        assert ours[header]["date"] == json.loads(sent[1 if header == "header" else 2])["date"]
        ours[header].pop("date")
        theirs[header].pop("date")
    assert ours == theirs


def test_buffers_are_read() -> None:
    read = KernelSession(key=KEY).deserialize([*frames(Session(key=KEY)), b"pixels"])
    assert [bytes(buffer) for buffer in read["buffers"]] == [b"pixels"]


def test_a_message_of_another_key_is_refused() -> None:
    with pytest.raises(ValueError, match="wrong signature"):
        KernelSession(key=KEY).deserialize(frames(Session(key=b"another")))


@pytest.mark.parametrize("position", [1, 2, 3, 4])
def test_a_message_that_was_changed_is_refused(position: int) -> None:
    sent = frames(Session(key=KEY))
    sent[position] = sent[position].replace(b"}", b', "more": 1}', 1).replace(b"{, ", b"{")
    with pytest.raises(ValueError, match="wrong signature"):
        KernelSession(key=KEY).deserialize(sent)


def test_a_message_that_is_not_signed_is_refused() -> None:
    sent = frames(Session(key=KEY))
    sent[0] = b""
    with pytest.raises(ValueError, match="not signed"):
        KernelSession(key=KEY).deserialize(sent)


def test_a_message_that_came_before_is_refused() -> None:
    reader, sent = KernelSession(key=KEY), frames(Session(key=KEY))
    reader.deserialize(sent)
    with pytest.raises(ValueError, match="twice"):
        reader.deserialize(sent)


def test_a_message_without_content_is_refused() -> None:
    with pytest.raises(TypeError):
        KernelSession(key=KEY).deserialize(frames(Session(key=KEY))[:4])


def test_without_a_key_nothing_is_signed() -> None:
    read = KernelSession(key=b"").deserialize(frames(Session(key=b"")))
    assert read["content"] == {"execution_state": "busy"}


def test_a_message_of_the_protocol_before_this_one_is_adapted() -> None:
    header = {"msg_id": "m", "msg_type": "pyout", "session": "s", "username": "u"}
    content = {"data": {"text/plain": "1"}, "metadata": {}, "execution_count": 1}
    parts: tuple[dict[str, Any], ...] = (header, {}, {}, content)
    sent = [b"", *(json.dumps(part).encode() for part in parts)]
    read = KernelSession(key=b"").deserialize(sent)
    assert read["header"]["msg_type"] == "execute_result"
    assert read == {**Session(key=b"").deserialize(sent), "header": read["header"]}
