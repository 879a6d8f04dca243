"""Documents are split at cells, definitions, sections and entries; long ones at blank lines."""

from __future__ import annotations

import pytest

from jupyter_ai_shoulders.retrieval.chunk import Chunk
from jupyter_ai_shoulders.retrieval.chunking import MOST_CHARACTERS, notebook_chunks, split
from jupyter_ai_shoulders.retrieval.document_kinds import DATA_CHUNKS, document_kind, split_text
from jupyter_ai_shoulders.wire.base import JsonObject
from jupyter_ai_shoulders.wire.ids import CellId, Version
from jupyter_ai_shoulders.wire.notebooks import NotebookCell
from jupyter_ai_shoulders.wire.versions import cell_version

PYTHON = '''"""Module."""
import os


@decorated(
    1,
)
def load(path):
    return path


class Model(Base):
    def fit(self):
        pass
'''
R = "library(x)\n\nfit.model <- function(d) {\n  lm(d)\n}\n"
MARKDOWN = """Intro

# Data
Where it is.
```
# no heading
```
## Loading
How.

# Model
End.
"""
BIB = "% comment\n@article{knuth84,\n title={Literate}\n}\n\n@book{ rossum ,\n title = {Py}}\n"


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.py", PYTHON, [(1, ""), (5, "load"), (12, "Model")]),
        ("a.py", "class Plain:\n    pass\n", [(1, "Plain")]),
        ("a.R", R, [(1, ""), (3, "fit.model")]),
        ("a.md", MARKDOWN, [(1, ""), (3, "Data"), (8, "Data › Loading"), (11, "Model")]),
        ("a.bib", BIB, [(1, ""), (2, "knuth84"), (6, "rossum")]),
        ("a.txt", "\n\none\n", [(3, "")]),
        ("a.py", "", []),
        ("a.py", "def broken(:\n", [(1, "broken")]),
    ],
)
def test_a_text_is_split_at_its_units(path: str, text: str, expected: list[tuple[int, str]]):
    kind = document_kind(path)
    assert kind is not None
    found = split_text(path, kind, text)
    assert [(chunk.line, chunk.heading) for chunk in found] == expected
    lines = text.split("\n")
    assert all(chunk.text.startswith(lines[chunk.line - 1]) for chunk in found)


def test_a_long_unit_is_split_at_blank_lines_and_a_longer_one_anywhere():
    paragraph = "\n".join(["word " * 10] * 12)
    pieces = list(split(f"{paragraph}\n\n{paragraph}\n\n{paragraph}\n\n{paragraph}"))
    assert [line for line, _ in pieces] == [1, 27]
    solid = list(split("\n".join(["word " * 10] * 200)))
    assert len(solid) > 3
    assert max(len(text) for _, text in solid) <= MOST_CHARACTERS


def test_of_data_the_beginning_is_searched():
    rows = "name,value\n" + "some,1\n" * 100_000
    assert len(split_text("a.csv", "text", rows)) == DATA_CHUNKS


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("n.ipynb", "notebook"),
        ("deep/Model.PY", "code"),
        ("Makefile", "code"),
        ("README", "text"),
        ("a.rst", "text"),
        ("refs.bib", "reference"),
        ("paper.pdf", "document"),
        ("a.bin", None),
        ("a.png", None),
        ("noextension", None),
    ],
)
def test_files_are_searched_by_their_names(path: str, kind: str | None):
    assert document_kind(path) == kind


def cell(
    name: str, source: str, kind: str = "code", tags: list[str] | None = None, out: str = ""
) -> NotebookCell:
    outputs: tuple[JsonObject, ...] = ()
    if out:
        outputs = (
            {"output_type": "stream", "name": "stdout", "text": [out, "\n"]},
            {"output_type": "execute_result", "data": {"text/plain": "plain", "image/png": "AA"}},
            {"output_type": "error", "ename": "ValueError", "evalue": "bad"},
        )
    return NotebookCell(
        id=CellId(name),
        cell_type="markdown" if kind == "markdown" else "code",
        source=source,
        version=Version(cell_version(source)),
        metadata={"tags": [*tags]} if tags else {},
        execution_count=None,
        output_summary=(),
        outputs=outputs,
    )


def test_cells_have_their_headings_and_outputs_and_private_ones_are_left_out():
    cells = [
        cell("a", "# Title\ntext", "markdown"),
        cell("b", "x = 1", out="printed"),
        cell("c", "secret = 2", tags=["private"], out="leaked"),
        cell("d", "## Part", "markdown"),
        cell("e", "\n\ny"),
    ]
    assert list(notebook_chunks(cells)) == [
        Chunk(1, "# Title\ntext", "Title", CellId("a")),
        Chunk(1, "x = 1", "Title", CellId("b")),
        Chunk(1, "printed\n\nplain\nValueError\nbad", "Title", CellId("b"), is_output=True),
        Chunk(1, "## Part", "Title › Part", CellId("d")),
        Chunk(3, "y", "Title › Part", CellId("e")),
    ]
