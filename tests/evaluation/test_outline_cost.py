"""What a question about one cell of a large notebook costs, over whole requests."""

from __future__ import annotations

from dataclasses import replace

from jupyter_ai_shoulders.core.token_estimates import estimate_request
from jupyter_ai_shoulders.evaluation.case import Case
from jupyter_ai_shoulders.evaluation.case_record import CaseRecord
from jupyter_ai_shoulders.evaluation.cases.scripted_turns import PATH, read
from jupyter_ai_shoulders.evaluation.checks import Check
from jupyter_ai_shoulders.evaluation.runner import evaluate
from jupyter_ai_shoulders.evaluation.workspace_fixture import (
    CellFixture,
    code,
    markdown,
    one_notebook,
)
from jupyter_ai_shoulders.testing.scripted_provider import Call, Say, turn
from jupyter_ai_shoulders.wire.base import JsonObject

MEGABYTES = 60
CELLS = 200
MOST_TOKENS = 15_000
ASKED = "cell-0121"


def large_notebook() -> list[CellFixture]:
    """Return 200 cells as people write them; a third show plots, 60 MB of them."""
    plots = CELLS // 3 + 1
    picture = "iVBORw0KGgo" + "A" * (MEGABYTES * 1_000_000 // plots)
    return [_cell(number, picture) for number in range(CELLS)]


def _cell(number: int, picture: str) -> CellFixture:
    name = f"cell-{number:04d}"
    if number % 8 == 0:
        return markdown(name, f"## Part {number // 8}\n\nWhat the sales of region {number} say.")
    source = (
        f"part_{number} = sales[sales.region == {number}]\n"
        f"part_{number} = part_{number}.dropna().sort_values('date')\n"
        f"fig, axes = plt.subplots(figsize=(8, 4))\n"
        f"part_{number}.plot(x='date', y='amount', ax=axes, title='Region {number}')\n"
    )
    if number % 3:
        return code(name, source * (1 + number % 7))
    data: JsonObject = {"image/png": picture, "text/plain": "<Figure size 800x400 with 1 Axes>"}
    return code(name, source, {"output_type": "display_data", "data": data, "metadata": {}})


def cost(record: CaseRecord) -> list[int]:
    """Return the estimate of each request."""
    return [
        estimate_request(request.system, request.messages, request.tools, "anthropic")
        for request in record.requests
    ]


async def test_question_about_one_cell_of_a_large_notebook_is_cheap() -> None:
    costs: list[int] = []
    told: list[str] = []

    def note(record: CaseRecord) -> str | None:
        costs.extend(cost(record))
        told.append(record.request_text(-1))
        return None

    case = Case(
        name="large",
        about="Reads the outline and one cell.",
        fixture=one_notebook(*large_notebook()),
        messages=("What does the plot of region 121 show?",),
        script=(
            read(),
            turn(Call("read_notebook", {"path": PATH, "cells": [ASKED]})),
            turn(Say("The amounts of region 121 by date.")),
        ),
        checks=(Check("the requests", note),),
        window=200_000,
    )
    report = await evaluate([replace(case, seconds=300.0)], nudges=[True])
    assert report.cases[0].passed, report.cases[0].problems
    assert len(costs) == 3
    assert max(costs) < MOST_TOKENS, costs
    assert "iVBORw0KGgo" not in told[0]
    assert "## Part 24" in told[0]
    assert f"--- cell 122 · id={ASKED}" in told[0]
    assert "part_121 = sales[sales.region == 121]" in told[0]
