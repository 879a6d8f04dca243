"""Notebook files as written by various tools, for property tests."""

import json
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

LINES = st.sampled_from(
    [
        "",
        "x = 1",
        "# Überschrift – naïve",
        'print("a\\tb")',
        "数据 = [1, 2]",
        "emoji = '😀'",
        "a\u2028b",
        "form\x0cfeed",
        "\\ud83d",
        "--- cell 3",
        "  ",
        "}, {",
        '"source": [',
    ]
)
SOURCES = st.lists(LINES, max_size=6).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines))
)
ODD_VALUES: list[Any] = [
    2**63,
    -(2**70),
    float("nan"),
    float("inf"),
    1e-300,
    "\ud800",
    None,
    True,
    {"a": [{}]},
    [],
]
ODD = st.sampled_from(ODD_VALUES)
METADATA = st.dictionaries(st.sampled_from(["tags", "collapsed", "übung", "x"]), ODD, max_size=2)


@st.composite
def stream(draw: st.DrawFn) -> dict[str, Any]:
    name = draw(st.sampled_from(["stdout", "stderr"]))
    return {"output_type": "stream", "name": name, "text": draw(SOURCES)}


@st.composite
def rich(draw: st.DrawFn) -> dict[str, Any]:
    data = {
        "text/plain": draw(SOURCES),
        "application/json": draw(ODD),
        "image/png": "A" * draw(st.sampled_from([0, 10, 5000])),
    }
    return {"output_type": "display_data", "data": data, "metadata": {}}


@st.composite
def cell(draw: st.DrawFn, position: int) -> dict[str, Any]:
    cell_type = draw(st.sampled_from(["code", "markdown", "raw"]))
    data: dict[str, Any] = {
        "cell_type": cell_type,
        "id": f"cell-{position}",
        "metadata": draw(METADATA),
        "source": draw(SOURCES),
    }
    if cell_type == "code":
        data["execution_count"] = draw(st.sampled_from([None, 1, 2**40]))
        data["outputs"] = draw(st.lists(st.one_of(stream(), rich()), max_size=3))
    elif draw(st.booleans()):
        data["attachments"] = {"a.png": {"image/png": "AAAA"}}
    return data


@dataclass(frozen=True)
class Written:
    """A notebook and the text that a tool wrote."""

    notebook: dict[str, Any]
    text: str


def split_texts(notebook: dict[str, Any]) -> dict[str, Any]:
    cells = [
        {**item, "source": item["source"].splitlines(keepends=True)} for item in notebook["cells"]
    ]
    return {**notebook, "cells": cells}


@st.composite
def notebook_file(draw: st.DrawFn, minimum: int = 1) -> Written:
    count = draw(st.integers(minimum, 5))
    cells = [draw(cell(position)) for position in range(count)]
    minor = draw(st.sampled_from([2, 4, 5]))
    if minor < 5:
        for item in cells:
            del item["id"]
    notebook: dict[str, Any] = {
        "cells": cells,
        "metadata": {"kernelspec": {"name": "python3"}, **draw(METADATA)},
        "nbformat": 4,
        "nbformat_minor": minor,
    }
    if draw(st.booleans()):
        notebook = dict(reversed(notebook.items()))
        notebook["cells"] = [dict(reversed(item.items())) for item in cells]
    return Written(notebook, _written(draw, notebook))


def _written(draw: st.DrawFn, notebook: dict[str, Any]) -> str:
    lines = draw(st.booleans())
    indent = draw(st.sampled_from([None, 0, 1, 2, 4, "\t"]))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": ")])) if indent is None else None
    text = json.dumps(
        split_texts(notebook) if lines else notebook,
        indent=indent,
        separators=separators,
        # A lone surrogate can only be written as an escape.
        ensure_ascii=draw(st.booleans()) or "\\ud800" in json.dumps(notebook),
    )
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    return text.replace("\n", newline) + draw(st.sampled_from(["", "\n", "\r\n", "\n\n"]))
