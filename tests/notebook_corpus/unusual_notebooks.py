"""Unusual notebooks that Jupyter opens."""

from typing import Any

from tests.notebook_corpus.json_writer import Literally, Twice
from tests.notebook_corpus.sample_notebooks import (
    PIXEL,
    Json,
    code,
    document,
    failure,
    figure,
    in_language,
    metadata,
    stream,
    table,
    text,
)

UNICODE: dict[str, str] = {
    "astral": "# 😀 𝔘𝔫𝔦 👩‍👩‍👧‍👦 🏳️‍🌈\nx = '𝑥'",
    "right to left": "# שלום עולם \u202e abc \u202c\n# مرحبا",
    "combining": "# e\u0301 vs é, ñ vs n\u0303, Å Å",
    "chinese": "数据 = 读取('文件.csv')\n打印(数据)",
    "separators of lines": "a\u2028b\u2029c\x85d\x0be\x0cf\x1cg\x1dh\x1ei",
    "controls": "bell \x07 escape \x1b[0m delete \x7f null \x00 unit \x1f",
    "lone surrogates": "high \ud83d low \ude00 swapped \ude00\ud83d",
    "not characters": "\ufffe \uffff \ufdd0 \U0010ffff \ufeff bom within",
    "looks like JSON": '"source": ["x"], "cells": [ {} ], \\"\\u0041\\" }] //',
    "backslashes": "r'\\\\server\\share\\' + \"\\\"\" + '\\u00e9' + '\\\\u00e9'",
    "line ends within": "one\r\ntwo\rthree\nfour\r\n",
    "blank": " \n\t\n  \n",
}


def with_text(source: str) -> Json:
    """A notebook with a text in every possible position."""
    output = {"name": "stdout", "output_type": "stream", "text": source}
    cells = [text(source), code(source, [output], 1), text(source, "raw"), code("plain", [])]
    return document(cells, metadata={**metadata("python"), "title": source})


def numbers() -> dict[str, Any]:
    """Numbers that a conversion to float changes, or with two spellings."""
    return {
        name: Literally(name)
        for name in (
            "9223372036854775808",
            "-170141183460469231731687303715884105728",
            "1" * 300,
            "1E5",
            "1e+05",
            "1.0",
            "1.10",
            "-0",
            "-0.0",
            "1e-400",
            "1e400",
            "0.1000000000000000055511151231257827",
        )
    }


def not_numbers() -> dict[str, Any]:
    """Invalid JSON that Python and many tools write, and Jupyter reads."""
    return {name: Literally(name) for name in ("NaN", "Infinity", "-Infinity")}


def deep(levels: int) -> Any:
    """Deeply nested values."""
    value: Any = "bottom"
    for level in range(levels):
        value = {"in": value} if level % 2 else [value]
    return value


def widget_state() -> Json:
    """The state of widgets as nbformat's metadata keeps it."""
    view = {"model_id": "0a1b", "version_major": 2, "version_minor": 0}
    output = {
        "data": {"application/vnd.jupyter.widget-view+json": view, "text/plain": ["IntSlider()"]},
        "metadata": {},
        "output_type": "display_data",
    }
    models = {
        f"model{at}": {
            "model_module": "@jupyter-widgets/controls",
            "model_module_version": "2.0.0",
            "model_name": "IntSliderModel",
            "state": {"max": 1e2, "value": at, "layout": f"IPY_MODEL_{at}", "description": "µ"},
        }
        for at in range(20)
    }
    state = {"state": models, "version_major": 2, "version_minor": 0}
    whole = {**metadata("python"), "widgets": {"application/vnd.jupyter.widget-state+json": state}}
    return document([code("slider", [output], 1), code("x", [])], metadata=whole)


def attachments() -> Json:
    """Pictures pasted into text."""
    files = {"größe 1.png": {"image/png": PIXEL}, "b.svg": {"image/svg+xml": ["<svg>\n", "</svg>"]}}
    cells = [
        text("![a](attachment:größe%201.png)", attachments=files),
        code("x = 1", []),
        text("empty", attachments={}),
    ]
    return document(cells)


def rich() -> Json:
    """Outputs of many MIME types, JSON among them."""
    data: Json = {
        "application/json": {"z": [1, None, {"a": "/"}], "a": ""},
        "application/vnd.plotly.v1+json": {"data": [{"y": [1, 2.5]}], "layout": {}},
        "application/vnd.vegalite.v5+json": {"mark": "bar", "$schema": "https://x/y"},
        "application/javascript": ["require(['x']);\n", "</script>"],
        "image/svg+xml": ["<svg xmlns='http://www.w3.org/2000/svg'>\n", "</svg>"],
        "image/jpeg": PIXEL,
        "text/latex": "$\\frac{1}{2}$",
        "text/markdown": ["# h\n"],
        "text/plain": "one string",
    }
    output: Json = {"data": data, "metadata": {"isolated": True}, "output_type": "display_data"}
    other = {"output_type": "update_display_data", "data": {}, "transient": {"display_id": "1"}}
    return document([code("show()", [output, other], 1), code("y", [failure(), stream()])])


def huge(megabytes: float) -> Json:
    """A cell with far too much output, among others."""
    lines = [f"line {at:07} of a loop without end\n" for at in range(int(megabytes * 26_000))]
    long = {"name": "stdout", "output_type": "stream", "text": lines}
    return document([code("before = 1", []), code("loop()", [long], 1), code("after = 1", [])])


def big_picture(megabytes: float) -> Json:
    """A picture of megabytes, on one line as usual."""
    output = figure()
    output["data"]["image/png"] = "iVBORw0KGgo" * int(megabytes * 95_000)
    return document([text("# Plot"), code("plot()", [output], 1), code("x = 1", [])])


def _changed(cell: Json, without: tuple[str, ...] = (), **values: Any) -> Json:
    return {**{key: item for key, item in cell.items() if key not in without}, **values}


def _cells(cells: list[Json], minor: int = 5) -> Json:
    return {
        "cells": cells,
        "metadata": metadata("python"),
        "nbformat": 4,
        "nbformat_minor": minor,
    }


def structures() -> dict[str, Json]:
    """Notebooks with missing, additional or unusual members."""
    plain = in_language("python")
    cells: list[Json] = plain["cells"]
    one = _changed(cells[1])
    return {
        "no cells": document([]),
        "one cell": document([code("x", [])]),
        "only text": document([text("a"), text("b"), text("c", "raw")]),
        "only raw": document([text("a", "raw"), text("b", "raw")]),
        "300 cells": document([code(f"x{at} = {at}", [stream()], at) for at in range(300)]),
        "200 empty cells without ids": document([code("", []) for _ in range(200)], 4),
        "duplicate ids": _cells([_changed(cell, id="same") for cell in cells]),
        "two with one id": _cells([*cells, _changed(cells[0], id="cell-1")]),
        "missing ids": _cells([_changed(cell, ("id",)) for cell in cells]),
        "one id missing": _cells([_changed(cells[0], ("id",)), *cells[1:]]),
        "ids in 4.4": _cells(cells, 4),
        "ids of other kinds": _cells(
            [_changed(cells[0], id=7), _changed(cells[1], id=None), _changed(one, id={"a": 1})]
        ),
        "ids that are not allowed": _cells(
            [_changed(cells[0], id="a b"), _changed(one, id=""), _changed(cells[2], id="é" * 9)]
        ),
        "id too long": _cells([_changed(one, id="x" * 65), cells[2]]),
        "minor 6": _cells(cells, 6),
        "minor missing": {"cells": cells, "metadata": {}, "nbformat": 4},
        "minor is a text": {**plain, "nbformat_minor": "5"},
        "metadata missing": {"cells": cells, "nbformat": 4, "nbformat_minor": 5},
        "more members": {**plain, "signature": "sha256:0", "extra": [1, {"cells": [{}]}]},
        "more members in cells": _cells([_changed(c, foo={"cells": []}, bar=None) for c in cells]),
        "cell metadata missing": _cells([_changed(cell, ("metadata",)) for cell in cells]),
        "cell metadata null": _cells([_changed(cell, metadata=None) for cell in cells]),
        "outputs missing": _cells([_changed(one, ("outputs",)), _changed(cells[2], id="b")]),
        "count missing": _cells([_changed(one, ("execution_count",)), cells[2]]),
        "count is a text": _cells([_changed(one, execution_count="1"), cells[2]]),
        "source missing": _cells([_changed(one, ("source",)), cells[2]]),
        "outputs of a text cell": _cells([_changed(cells[0], outputs=[], execution_count=1), one]),
        "outputs of odd kinds": _cells(
            [
                _changed(one, outputs=[{}, {"output_type": "x"}, {"data": 1}, {"text": [1]}]),
                cells[2],
            ]
        ),
        "prompt of format 3": _cells([_changed(one, prompt_number=3, input="x"), cells[2]]),
        "sources as texts": _cells([_changed(c, source="".join(c["source"])) for c in cells]),
        "sources as both": _cells(
            [_changed(c, source="a\nb") if at % 2 else c for at, c in enumerate(cells)]
        ),
        "sources cut anywhere": _cells(
            [_changed(one, source=["a", "b\nc", "", "\n\n", "d"]), _changed(cells[2], source=[])]
        ),
        "keys twice in a cell": _cells([Twice(one), cells[2]]),
        "keys twice in metadata": _cells([_changed(one, metadata=Twice({"a": 1})), cells[2]]),
        "nested deeply": _cells([_changed(one, metadata={"deep": deep(200)}), cells[2]]),
        "protected cells": _cells([cells[0], _changed(one, metadata={"tags": ["x"]}), cells[2]]),
        "numbers": _cells([_changed(one, metadata=numbers()), cells[2]]),
        "huge counts": _cells([_changed(one, execution_count=2**63), cells[2]]),
        "not numbers": _cells([_changed(one, metadata=not_numbers()), cells[2]]),
        "attachments": attachments(),
        "widget state": widget_state(),
        "rich outputs": rich(),
        "tables": document([code(f"df{at}", [table(at)], at) for at in range(30)]),
        "a long line": document([code("x = '" + "y" * 200_000 + "'", []), code("z", [])]),
        "10 000 lines": document([code("print()\n" * 10_000, [stream()]), code("z", [])]),
    }
