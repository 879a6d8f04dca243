"""The tour notebook: valid, without outputs, and broken in exactly the one place it says."""

from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

TOUR = Path(__file__).parents[1] / "examples/tour.ipynb"


def read_tour() -> Any:
    return nbformat.read(TOUR, as_version=4)  # pyright: ignore[reportUnknownVariableType]: untyped


def test_tour_is_stored_valid_and_without_outputs():
    notebook = read_tour()
    nbformat.validate(notebook)
    assert [cell.id for cell in notebook.cells if cell.get("outputs")] == []


async def test_tour_fails_in_one_cell_for_want_of_an_import():
    notebook = read_tour()
    await NotebookClient(notebook, allow_errors=True, timeout=100).async_execute()
    errors = {
        cell.id: output.evalue
        for cell in notebook.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    }
    assert errors == {"count-mistakes": "name 'pd' is not defined"}
