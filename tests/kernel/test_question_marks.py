"""A question mark at the end of ``%ai`` is part of the prompt."""

from __future__ import annotations

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from jupyter_ai_shoulders.kernel.magic_command import keep_question_marks


@pytest.mark.parametrize(
    ("cell", "python"),
    [
        ("%ai Why?", "get_ipython().run_line_magic('ai', 'Why?')\n"),
        ("x = 1\n%ai Why, 'x'?", "x = 1\nget_ipython().run_line_magic('ai', \"Why, 'x'?\")\n"),
        ("if x:\n  %ai Why?", "if x:\n  get_ipython().run_line_magic('ai', 'Why?')\n"),
        ("%ai Why", "get_ipython().run_line_magic('ai', 'Why')\n"),
        ("%ai?", "get_ipython().run_line_magic('pinfo', '%ai')\n"),
        ("x = '''\n%ai Why?\n'''", "x = '''\n%ai Why?\n'''\n"),
        ("%%ai\nWhy?", "get_ipython().run_cell_magic('ai', '', 'Why?\\n')\n"),
        ("%%ai -m x\n%ai Why?", "get_ipython().run_cell_magic('ai', '-m x', '%ai Why?\\n')\n"),
    ],
)
def test_a_question_is_asked(cell: str, python: str) -> None:
    manager = TransformerManager()
    manager.line_transforms.append(keep_question_marks)

    assert manager.transform_cell(cell) == python
