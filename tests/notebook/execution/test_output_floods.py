"""Short forms of ``python -m tests.notebook.execution.output_flood``."""

import json

import pytest
from jupyter_client.session import Session

from jupyter_ai_shoulders.notebook.kernels import message_decoding
from tests.notebook.execution.output_flood import flood, floods

ALLOWED_MB = 100
"""Limit of the growth of a server's memory."""


def test_floods_are_bounded_and_the_kernel_goes_on():
    flooded = flood(*floods(0.01, 2_000, 60))
    assert len(flooded) == 6
    for each in flooded:
        assert each.ok, each
        assert each.next_ok, each
        assert each.model_characters < 50 * 1024, each
        assert each.file_mb < 2, each
    assert sum(each.grown_mb for each in flooded) < ALLOWED_MB, flooded


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("stream", {"name": "stdout", "text": "x" * 200}),
        ("display_data", {"data": {"text/html": "x" * 200}, "metadata": {}, "transient": {}}),
        ("execute_result", {"data": {}, "metadata": {}, "execution_count": 1, "x": "x" * 200}),
        ("error", {"ename": "E", "evalue": "x" * 200, "traceback": []}),
    ],
)
def test_what_stands_in_for_a_message_says_so(
    kind: str, content: dict[str, object], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(message_decoding, "CONTENT_LIMIT", 100)
    session = Session(key=b"")
    frames = session.serialize(session.msg(kind, content))[1:6]
    assert message_decoding.is_oversized(frames)
    message = message_decoding.replacement_message(frames)
    assert message["msg_type"] == kind
    assert "is left out here" in json.dumps(message["content"])
