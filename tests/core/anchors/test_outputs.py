"""Finding the output of a thread again: fixtures shared with the page, and quotes of outputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_ai_shoulders.core.anchors.outputs import (
    QUOTED,
    LocatedOutput,
    locate_output,
    output_quote,
)
from jupyter_ai_shoulders.wire.ids import CellId
from jupyter_ai_shoulders.wire.sessions import Anchor, OutputLocation

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "wire" / "fixtures" / "output_places.json").read_text()
)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_an_output_is_found_again_or_said_to_be_uncertain(case: dict[str, Any]) -> None:
    known = case["output"]
    anchor = Anchor(
        document="a.ipynb",
        cell_id=CellId("c"),
        target="output",
        range=None,
        quote=case["quote"],
        prefix="",
        suffix="",
        output=None if known is None else OutputLocation.model_validate(known),
    )

    found = locate_output(case["quotes"], anchor)

    assert found == LocatedOutput(case["found"]["index"], case["found"]["certainty"])


@pytest.mark.parametrize(
    ("output", "quote"),
    [
        ({"output_type": "stream", "text": ["one\n", "two\n"]}, "one\ntwo"),
        ({"output_type": "error", "ename": "KeyError", "evalue": "'x'"}, "KeyError: 'x'"),
        ({"output_type": "execute_result", "data": {"text/plain": " 42\n"}}, "42"),
        ({"output_type": "display_data", "data": {"image/png": "aaaa"}}, ""),
        ({"output_type": "display_data"}, ""),
        ({"output_type": "stream", "text": "x" * 3_000}, "x" * QUOTED),
        ({"output_type": "stream", "text": "x" + "😀" * 3_000}, "x" + "😀" * 1_000),
    ],
    ids=["stream", "error", "result", "picture", "no data", "long", "wide"],
)
def test_an_output_is_quoted_by_the_text_it_begins_with(output: dict[str, Any], quote: str) -> None:
    assert output_quote(output) == quote
