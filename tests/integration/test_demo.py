"""The demo in the real loop: real tools, files and kernels, over plain HTTP."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.integration.client import Api, of_type
from tests.integration.conftest import StartServer
from tests.simulator_process import notebook, texts

TABLE = 'import pandas as pd\ntable = pd.DataFrame({"height": [3, None], "width": [4, 5]})'
BROKEN: dict[str, tuple[list[tuple[str, str]], str, str]] = {
    "missing import": ([("broken", "print(math.floor(3.7))")], "3\n", "import math"),
    "order of execution": (
        [("first", "x = 20"), ("second", "y = x + 1"), ("broken", "print(y)")],
        "21\n",
        "print(y)",
    ),
    "column": (
        [("data", TABLE), ("shown", "table['width']"), ("broken", "print(table['widht'].sum())")],
        "9\n",
        '"width"',
    ),
    "file": (
        [
            ("files", "import os\nprint(*os.listdir('in'))\nopen('in/visits.csv').close()"),
            ("broken", "print(open('in/visit.csv').read())"),
        ],
        "seven\n\n",
        "in/visits.csv",
    ),
    "method": ([("data", TABLE), ("broken", "print(len(table.haed()))")], "2\n", ".head()"),
}


def ask(api: Api, words: str, path: str, **fields: Any) -> list[dict[str, Any]]:
    session = api.session()
    api.send(session, words, context={"active_document": path, **fields})
    return api.turn(session)


def cells_of(path: Path) -> Any:
    return json.loads(path.read_text())["cells"]


def said(events: list[dict[str, Any]]) -> str:
    return "".join(event["text"] for event in of_type(events, "text-delta"))


def test_each_error_with_a_rule_is_fixed_in_the_kernel(serve: StartServer, workspace: Path) -> None:
    (workspace / "in").mkdir()
    (workspace / "in/visits.csv").write_text("seven\n")
    for name, (cells, _, _) in BROKEN.items():
        (workspace / f"{name}.ipynb").write_text(notebook(*cells))
    api = serve(workspace)
    printed, sources, ends = dict[str, str](), dict[str, bool](), set[str]()
    for name, (cells, _, fragment) in BROKEN.items():
        path = workspace / f"{name}.ipynb"
        events = ask(api, f"Please fix cell {len(cells)}.", path.name, active_cell_id="broken")
        ends.add(of_type(events, "turn-end")[0]["exit"])
        found = next(cell for cell in cells_of(path) if cell["id"] == "broken")
        printed[name] = texts(cells_of(path), "broken")
        sources[name] = fragment in "".join(found["source"])
    assert printed == {name: expected for name, (_, expected, _) in BROKEN.items()}
    assert all(sources.values()), sources
    assert ends == {"final_response"}


def test_a_request_of_several_parts_ends_with_a_list_and_a_summary(
    serve: StartServer, workspace: Path
) -> None:
    path = workspace / "several.ipynb"
    path.write_text(notebook(("data", TABLE), ("broken", "print(math.pi)")))
    api = serve(workspace)
    events = ask(
        api, "Fix the error, then profile the table; plot height against width.", path.name
    )
    assert of_type(events, "turn-end")[0]["exit"] == "ended_by_tool", said(events)
    lists = [event["items"] for event in of_type(events, "todo-update")]
    assert [sum(item["done"] for item in items) for items in lists] == [0, 1, 2, 3]
    assert "`table` has 2 rows and 2 columns; 1 value is missing." in said(events)
    assert {event["status"] for event in of_type(events, "tool-result")} == {"ok"}
    kinds = [
        output["output_type"] for cell in cells_of(path)[1:] for output in cell.get("outputs", ())
    ]
    assert "error" not in kinds
    assert "display_data" in kinds
