"""The example notebooks are valid, without outputs, and broken only where they say so."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"


def read(name: str) -> Any:
    return nbformat.read(EXAMPLES / name, as_version=4)  # pyright: ignore[reportUnknownVariableType]: untyped


async def errors_of(notebook: Any) -> dict[str, str]:
    """Run a notebook beside the examples; return the names of its errors by cell."""
    place = {"metadata": {"path": str(EXAMPLES)}}
    client = NotebookClient(notebook, allow_errors=True, timeout=100, resources=place)
    await client.async_execute()
    return {
        cell.id: output.ename
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    }


@pytest.mark.parametrize("name", ["tour.ipynb", "first-aid.ipynb"])
def test_example_is_stored_valid_and_without_outputs(name: str):
    notebook = read(name)
    nbformat.validate(notebook)
    assert [cell.id for cell in notebook.cells if cell.get("outputs")] == []


async def test_tour_fails_in_one_cell_for_want_of_an_import():
    notebook = read("tour.ipynb")
    assert await errors_of(notebook) == {"count-mistakes": "NameError"}
    failed = next(cell for cell in notebook.cells if cell.id == "count-mistakes")
    assert failed.outputs[0].evalue == "name 'pd' is not defined"


MISTAKES = {
    "load-bikes": ("FileNotFoundError", "bike_count.csv", "bike_counts.csv"),
    "mean-per-place": ("KeyError", '"bike"', '"bikes"'),
    "rainy-days": ("AttributeError", "sort_value(", "sort_values("),
}
"""The error of a cell, and the correction of its text."""


def mended(cell: Any) -> Any:
    _, wrong, right = MISTAKES[cell.id]
    assert wrong in cell.source
    return nbformat.from_dict({**cell, "source": cell.source.replace(wrong, right)})  # pyright: ignore[reportUnknownVariableType]: untyped


async def test_first_aid_fails_in_the_four_cells_it_names():
    notebook = read("first-aid.ipynb")
    position = next(n for n, cell in enumerate(notebook.cells) if cell.id == "load-bikes")
    after = mended(notebook.cells[position])
    after["id"] = "loaded-after-all"
    notebook.cells.insert(position + 1, after)
    expected = {cell: error for cell, (error, _, _) in MISTAKES.items()}
    assert await errors_of(notebook) == {**expected, "share-of-rain": "NameError"}


async def test_first_aid_runs_when_its_mistakes_are_mended():
    notebook = read("first-aid.ipynb")
    notebook.cells = [
        mended(cell) if cell.id in MISTAKES else cell
        for cell in sorted(notebook.cells, key=lambda cell: cell.id == "share-of-rain")
    ]
    assert await errors_of(notebook) == {}


def test_data_of_the_examples_stays_small():
    sizes = {path.name: path.stat().st_size for path in (EXAMPLES / "data").iterdir()}
    assert list(sizes) == ["bike_counts.csv"]
    assert max(sizes.values()) < 5_000
