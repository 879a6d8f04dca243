"""Notebooks as values, in many languages and from many tools."""

import base64
import random
from typing import Any

Json = dict[str, Any]

LANGUAGES: dict[str, tuple[str, str, str]] = {
    "python": ("python3", ".py", "import pandas as pd\ndf = pd.read_csv('größe.csv')\ndf.head()"),
    "R": ("ir", ".r", "library(ggplot2)\nggplot(cars, aes(speed, dist)) + geom_point() # ±σ"),
    "julia": ("julia-1.12", ".jl", '∇f(x, y) = [2x, 2y]\nα = ∇f(1, 2)\nplot(α; label="α")'),
    "scala": ("almond", ".scala", 'import $ivy.`org.typelevel::cats-core:2.12.0`\nval x = 1 → "a"'),
    "rust": (
        "rust",
        ".rs",
        ':dep rand\nlet v: Vec<&\'static str> = vec!["a\\n"];\nprintln!("{v:?}");',
    ),
    "javascript": ("deno", ".js", "const ƒ = (x) => `\\u{1F600} ${x}`;\nawait ƒ(/[\\\"']/g);"),
    "typescript": ("tslab", ".ts", "type A = { [k: string]: unknown };\nlet a: A = {};"),
    "bash": ("bash", ".sh", 'awk \'{print $1"\\t"$2}\' a.csv | sort -u > "out/$USER.txt"'),
    "sql": ("xsql", ".sql", "SELECT \"a b\", 'it''s' FROM t\nWHERE x LIKE '%\\_%' ESCAPE '\\';"),
    "c++": ("xcpp17", ".cpp", "#include <iostream>\nstd::cout << \"a\\0b\" << '\\n';"),
    "haskell": ("haskell", ".hs", "{-# LANGUAGE UnicodeSyntax #-}\nf ∷ ∀ a. a → a\nf = \\x → x"),
    "ocaml": ("ocaml", ".ml", "let rec f x = match x with [] -> 0 | _ :: t -> 1 + f t;;"),
    "octave": ("octave", ".m", 'A = [1, 2; 3, 4]\';\nprintf("%d\\n", A(:))'),
    "fsharp": (".net-fsharp", ".fs", "let (|Even|Odd|) n = if n % 2 = 0 then Even else Odd"),
    "kotlin": ("kotlin", ".kt", '%use dataframe\nval s = """a "quoted" $x"""'),
    "go": ("gonb", ".go", '%%\nfmt.Printf("%q\\n", `raw\\n`)'),
    "ruby": ("ruby", ".rb", "puts <<~TEXT\n  #{1 + 1} — ¿qué?\nTEXT"),
    "lua": ("xlua", ".lua", "local t = {[1]=\"a\", ['b']=2} -- [[ ]]"),
    "wolfram": ("wolframlanguage13", ".wl", "Plot[Sin[x], {x, 0, 2 π}]\n% + %%"),
    "sage": ("sagemath", ".sage", "R.<x> = PolynomialRing(QQ)\nfactor(x^2 - 1)"),
    "perl": ("perl", ".pl", 'my ($a) = $_ =~ m{"(.*?)"}x; print "$a\\n";'),
}

PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(200))).decode()

TOOLS: dict[str, tuple[Json, Json, int]] = {
    "jupyterlab": ({}, {"trusted": True, "editable": True}, 5),
    "classic": ({"toc": {"base_numbering": 1}}, {"scrolled": True, "collapsed": False}, 2),
    "papermill": (
        {"papermill": {"duration": 1.5e1, "exception": None, "parameters": {"α": 0.1}}},
        {"papermill": {"duration": 0.012, "status": "completed"}, "tags": ["injected-parameters"]},
        4,
    ),
    "jupytext": ({"jupytext": {"formats": "ipynb,py:percent", "main_language": "python"}}, {}, 5),
    "colab": (
        {"colab": {"provenance": [], "gpuType": "T4"}, "accelerator": "GPU"},
        {"id": "aBc_-9", "colab": {"base_uri": "https://localhost:8080/"}, "outputId": "x-1"},
        0,
    ),
    "vscode": ({"orig_nbformat": 4, "vscode": {"interpreter": {"hash": "31f2"}}}, {}, 2),
    "databricks": (
        {"application/vnd.databricks.v1+notebook": {"dashboards": [], "language": "python"}},
        {"application/vnd.databricks.v1+cell": {"nuid": "1-2", "title": "", "inputWidgets": {}}},
        0,
    ),
    "kaggle": ({"kaggle": {"accelerator": "none", "dataSources": []}}, {"_uuid": "8f2"}, 4),
    "deepnote": (
        {"deepnote_execution_queue": []},
        {"deepnote_cell_type": "code", "cell_id": "a"},
        0,
    ),
    "hex": ({"hex_info": {"author": "Zoë", "exported_date": "2026-01-01T00:00:00Z"}}, {}, 4),
    "nbgrader": ({}, {"nbgrader": {"grade": True, "points": 2, "schema_version": 3}}, 5),
    "quarto": (
        {"title": "Übung", "format": {"html": {"toc": True}}},
        {"tags": ["remove-input"]},
        5,
    ),
    "slides": ({"rise": {"theme": "sky"}}, {"slideshow": {"slide_type": "fragment"}}, 4),
    "sagemaker": ({"instance_type": "ml.t3", "availableInstances": [{"_id": 0}]}, {}, 4),
    "azure data studio": ({"language_info": {"version": ""}}, {"azdata_cell_guid": "c-1"}, 2),
    "nteract": (
        {"nteract": {"version": "0.28"}},
        {"outputExpanded": False, "inputHidden": True},
        4,
    ),
    "polynote": ({"config": {"dependencies": {}}}, {"cell.metadata.exec_info": {"startTs": 1}}, 0),
    "cocalc": ({"scroll": 0}, {"hidden": False, "pos": 0.5, "editable": False}, 4),
    "marimo": ({"marimo": {"marimo_version": "0.17"}}, {"marimo": {"name": "_"}}, 5),
    "watermark": ({"authors": [{"name": "李雷"}]}, {"jupyter": {"source_hidden": True}}, 5),
    "nbdev": ({"skip_showdoc": True}, {"hide_input": False}, 4),
}


def metadata(language: str) -> Json:
    """Notebook metadata for a language."""
    kernel, extension, _ = LANGUAGES[language]
    spec = {"display_name": language.title(), "language": language, "name": kernel}
    return {"kernelspec": spec, "language_info": {"file_extension": extension, "name": language}}


def stream(text: str = "1\n2\n") -> Json:
    """A cell's printed output, as lines."""
    return {"name": "stdout", "output_type": "stream", "text": text.splitlines(keepends=True)}


def figure() -> Json:
    """A picture with its text."""
    data = {"image/png": f"{PIXEL}\n", "text/plain": ["<Figure size 640x480 with 1 Axes>"]}
    shape = {"image/png": {"height": 413, "width": 547}}
    return {"data": data, "metadata": shape, "output_type": "display_data"}


def table(count: int | None) -> Json:
    """A value shown as HTML and text."""
    html = ['<table border="1" class="dataframe">\n', "  <td>½</td>\n", "</table>"]
    data = {"text/html": html, "text/plain": ["   a\n", "0  ½"]}
    return {
        "data": data,
        "execution_count": count,
        "metadata": {},
        "output_type": "execute_result",
    }


def failure() -> Json:
    """A traceback in colours."""
    trace = ["\x1b[31m---\x1b[39m", "\x1b[0;32m<ipython-input-1>\x1b[0m in \x1b[36m<module>\x1b[0m"]
    return {"ename": "KeyError", "evalue": "'größe'", "output_type": "error", "traceback": trace}


def code(source: str, outputs: list[Json], count: int | None = None, **rest: Any) -> Json:
    """A code cell, its source as lines."""
    return {
        "cell_type": "code",
        "execution_count": count,
        "metadata": {},
        "outputs": outputs,
        "source": source.splitlines(keepends=True),
        **rest,
    }


def text(source: str, kind: str = "markdown", **rest: Any) -> Json:
    """A markdown or raw cell, its source as lines."""
    return {
        "cell_type": kind,
        "metadata": {},
        "source": source.splitlines(keepends=True),
        **rest,
    }


def document(cells: list[Json], minor: int = 5, **rest: Any) -> Json:
    """A notebook; from 4.5 on, cells without an id get one."""
    if minor >= 5:
        cells = [{"id": f"cell-{at}", **cell} for at, cell in enumerate(cells)]
    return {
        "cells": cells,
        "metadata": rest.pop("metadata", metadata("python")),
        "nbformat": 4,
        "nbformat_minor": minor,
        **rest,
    }


def in_language(language: str, minor: int = 5) -> Json:
    """A notebook in a language."""
    source = LANGUAGES[language][2]
    cells = [
        text(f"# {language}\n\nA *tour* – naïve, 100 %"),
        code(source, [stream()], 1),
        code(f"{source}\n", [figure(), table(2)], 2),
        text("---\ntitle: x\n---", "raw"),
        code("", []),
    ]
    return document(cells, minor, metadata=metadata(language))


def by_tool(tool: str) -> Json:
    """A notebook with a tool's metadata."""
    whole, own, minor = TOOLS[tool]
    cells = [
        {**text(f"# From {tool}"), "metadata": {**own}},
        {**code("x = 1\nx", [table(1)], 1), "metadata": {**own}},
        {**code("raise KeyError", [failure()], 2), "metadata": {**own, "tags": ["é"]}},
        text("the end"),
    ]
    return document(cells, minor, metadata={**metadata("python"), **whole})


def old(language: str = "python") -> Json:
    """A notebook of format 3."""
    source = LANGUAGES[language][2]
    pyout = {"output_type": "pyout", "prompt_number": 1, "text": ["½"], "html": ["<b>½</b>"]}
    printed = {"output_type": "stream", "stream": "stdout", "text": ["1\n", "2\n"]}
    picture = {"output_type": "display_data", "png": PIXEL, "text": ["<Figure>"]}
    error = {"output_type": "pyerr", "ename": "E", "evalue": "v", "traceback": ["\x1b[31mt"]}
    cells: list[Json] = [
        {"cell_type": "heading", "level": 1, "metadata": {}, "source": ["Übersicht"]},
        _old_code(source, [printed, pyout], 1),
        {"cell_type": "markdown", "metadata": {}, "source": ["# Not\n", "a heading"]},
        _old_code("plot()", [picture, error], 2),
        {"cell_type": "raw", "metadata": {}, "source": [".. note::"]},
    ]
    sheet: Json = {"cells": cells, "metadata": {}}
    return {"metadata": {"name": ""}, "nbformat": 3, "nbformat_minor": 0, "worksheets": [sheet]}


def _old_code(source: str, outputs: list[Json], count: int) -> Json:
    return {
        "cell_type": "code",
        "collapsed": False,
        "input": source.splitlines(keepends=True),
        "language": "python",
        "metadata": {},
        "outputs": outputs,
        "prompt_number": count,
    }


def by_chance(seed: int, minor: int) -> Json:
    """A notebook of random cells; the same for the same seed."""
    choose = random.Random(seed)
    outputs = [stream, figure, failure, lambda: table(3)]
    cells: list[Json] = []
    for _ in range(choose.randint(1, 12)):
        source = choose.choice(list(LANGUAGES.values()))[2] * choose.randint(0, 3)
        if choose.random() < 0.4:
            cells.append(text(source, choose.choice(["markdown", "raw"])))
        else:
            made = [choose.choice(outputs)() for _ in range(choose.randint(0, 3))]
            cells.append(code(source, made, choose.choice([None, 1, 97])))
    language = choose.choice(list(LANGUAGES))
    return document(cells, minor, metadata=metadata(language))
