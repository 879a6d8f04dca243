"""Files that are not valid notebooks: after a crash, a bad merge or a mistake in an editor."""

import json

from tests.notebook_corpus.corpus_items import BrokenItem
from tests.notebook_corpus.sample_notebooks import code, document, in_language

_WHOLE = json.dumps(in_language("python"), indent=1, ensure_ascii=False)
_LINES = _WHOLE.split("\n")
_CUT = len(_WHOLE) // 2


def _line_of(text: str, position: int) -> int:
    return text.count("\n", 0, position) + 1


def _with_cell(**values: object) -> bytes:
    cell = {**code("x", []), "id": "a", **values}
    return json.dumps({**document([]), "cells": [cell]}).encode()


def _replaced(old: str, new: str) -> str:
    assert old in _WHOLE
    return _WHOLE.replace(old, new, 1)


def broken() -> list[BrokenItem]:
    """Return all of them."""
    conflict = "\n".join([*_LINES[:5], "<<<<<<< HEAD", *_LINES[5:8], "=======", *_LINES[5:]])
    comment = "\n".join([_LINES[0], " // written by hand", *_LINES[1:]])
    texts = [
        ("empty", "", "Expecting an object", 1),
        ("white space", " \n\n", "Expecting an object", 3),
        ("null", "null", "Expecting an object", 1),
        ("a list", "[]", "Expecting an object", 1),
        ("a text", '"notebook"', "Expecting an object", 1),
        ("no notebook", '{"a": 1}', 'no "nbformat"', 1),
        ("cut in the middle", _WHOLE[:_CUT], "Expecting|Unterminated", _line_of(_WHOLE, _CUT)),
        ("without its last brace", _WHOLE[:-1], "Expecting", len(_LINES)),
        ("twice", _WHOLE + "\n" + _WHOLE, "Extra data", len(_LINES) + 1),
        ("with something after it", _WHOLE + "\nEOF", "Extra data", len(_LINES) + 1),
        ("a merge conflict", conflict, "Expecting", 6),
        ("a comment", comment, "Expecting property name", 2),
        ("a comment in a block", "/* x */" + _WHOLE, "Expecting an object", 1),
        (
            "a comma too many",
            _replaced('"nbformat_minor": 5', '"nbformat_minor": 5,'),
            "Expecting",
            0,
        ),
        ("a comma missing", _replaced('"nbformat": 4,', '"nbformat": 4'), "Expecting ','", 0),
        ("single quotes", _WHOLE.replace('"', "'"), "Expecting property name", 2),
        (
            "a line end in a text",
            _replaced("A *tour*", "A \n tour"),
            "Invalid control character",
            0,
        ),
        ("an unknown escape", _replaced("A *tour*", "A \\x tour"), "Invalid \\\\escape", 0),
        ("half an escape", _replaced("A *tour*", "A \\u12 tour"), "Invalid \\\\uXXXX", 0),
        ("cells twice", '{"nbformat": 4, "cells": [],\n "cells": []}', "occurs twice", 2),
        ("format twice", _replaced('"nbformat"', '"nbformat": 3, "nbformat"'), "occurs twice", 0),
        ("a later format", _replaced('"nbformat": 4', '"nbformat": 5'), "unknown format 5", 0),
        (
            "format as a text",
            _replaced('"nbformat": 4', '"nbformat": "4"'),
            "unknown format '4'",
            0,
        ),
        ("cells missing", _replaced('"cells"', '"cell"'), "no list of cells", 0),
        ("cells null", '{"nbformat": 4, "cells": null}', "no list of cells", 1),
        ("metadata is a list", '{"nbformat": 4, "metadata": []}', "not an object|no list", 1),
        ("Python, not JSON", "{'cells': None}", "Expecting property name", 1),
        ("HTML", "<!DOCTYPE html>\n<html></html>", "Expecting an object", 1),
        ("a pointer of Git LFS", "version https://git-lfs.github.com/spec/v1\n", "Expecting", 1),
        ("a script", "# %%\nprint(1)\n", "Expecting an object", 1),
        ("nested too deeply", '{"cells": ' + "[" * 100_000, "cannot be decoded", 1),
        ("a number too long", '{"x": ' + "1" * 5_000 + "}", "cannot be decoded", 1),
    ]
    whole = _WHOLE.encode()
    latin = _WHOLE.encode("latin-1", "replace")
    zeros = bytes(len(whole))
    others = [
        BrokenItem("latin-1", latin, "not UTF-8", _line_of(_WHOLE, _WHOLE.index("ï"))),
        BrokenItem("UTF-16", _WHOLE.encode("utf-16"), "UTF-16"),
        BrokenItem("zeros after a crash", zeros, "Expecting an object"),
        BrokenItem(
            "cut within a character", whole[: whole.index("–".encode()) + 1], "not UTF-8", 0
        ),
        BrokenItem("cell is a number", b'{"nbformat": 4, "cells": [1]}', "not an object"),
        BrokenItem("cell without a type", _with_cell(cell_type=None), "unknown type None"),
        BrokenItem("cell of an unknown type", _with_cell(cell_type="sql"), "unknown type 'sql'"),
        BrokenItem("source is a number", _with_cell(source=1), "no source text"),
        BrokenItem("source of numbers", _with_cell(source=[1]), "no source text"),
        BrokenItem("source is an object", _with_cell(source={"a": "b"}), "no source text"),
        BrokenItem("format 3 without sheets", b'{"nbformat": 3}', "no list of worksheets"),
        BrokenItem(
            "format 3, cell broken", b'{"nbformat": 3, "worksheets": [{"cells": [1]}]}', "cell"
        ),
    ]
    made = [BrokenItem(name, text.encode(), problem, line) for name, text, problem, line in texts]
    return made + others
