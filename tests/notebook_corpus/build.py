"""Builds the corpus."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import nbformat

from tests.notebook_corpus import sample_notebooks, unusual_notebooks
from tests.notebook_corpus.corpus_items import Item
from tests.notebook_corpus.json_writer import Literally, Spelling, Twice, spell
from tests.notebook_corpus.sample_notebooks import LANGUAGES, TOOLS, Json

FILES = Path(__file__).parent / "files"
BOM = "\ufeff"

INDENTS: dict[str, str | None] = {
    "one line": None,
    "indent 0": "",
    "indent 1": " ",
    "indent 2": "  ",
    "indent 3": "   ",
    "indent 4": "    ",
    "tabs": "\t",
}
NEWLINES = {"LF": "\n", "CRLF": "\r\n", "CR": "\r", "blank lines": "\n\n"}

STYLES: dict[str, Spelling] = {
    "compact": Spelling(None, colon=":", final=""),
    "one line with spaces": Spelling(None, comma=", ", final=""),
    "colab": Spelling("  ", order="reversed"),
    "vscode": Spelling("    ", final=""),
    "azure": Spelling("    ", newline="\r\n", final=""),
    "databricks": Spelling(None, colon=":", order="reversed", final=""),
    "javascript": Spelling("\t", escape="no", own_lines=False),
    "java": Spelling("  ", colon=" : ", slashes=True, empty_space=" ", own_lines=False),
    "php": Spelling("    ", slashes=True, escape="lower"),
    "r": Spelling("  ", order="shuffled", empty_space="\n"),
    "dotnet": Spelling("  ", escape="upper", newline="\r\n", final=""),
    "go": Spelling("  ", order="sorted"),
    "escaped": Spelling(" ", escape="lower", order="sorted"),
    "by hand": Spelling("  ", colon=" :", trailing="  ", own_lines=False, final="\n\n\n"),
    "trailing tabs": Spelling(" ", trailing="\t", final=" \n"),
    "windows editor": Spelling(" ", newline="\r\n", final="\r\n", before=BOM),
    "space before": Spelling(" ", before="\n\n  ", final="  "),
    "spaces in empty": Spelling(" ", empty_space="  ", order="shuffled"),
    "no space at all": Spelling(None, colon=":", order="sorted", escape="upper", final=""),
}


def corpus() -> list[Item]:
    """Return every file that must be edited with fidelity."""
    return [
        *_of_languages(),
        *_of_tools(),
        *_of_spellings(),
        *_of_formats(),
        *_of_format_3(),
        *_of_unicode(),
        *_of_structures(),
        *_of_sizes(),
        *_by_nbformat(),
        *_by_hand(),
    ]


def _of_languages() -> Iterator[Item]:
    styles = list(STYLES.items())
    for at, language in enumerate(LANGUAGES):
        name, style = styles[at % len(styles)]
        whole = sample_notebooks.in_language(language, 4 + at % 2)
        yield _spelled("language", f"{language}, {name}", whole, style, at)


def _of_tools() -> Iterator[Item]:
    own = {"colab": "colab", "vscode": "vscode", "databricks": "databricks"}
    styles = list(STYLES)
    for at, tool in enumerate(TOOLS):
        name = own.get(tool, styles[(at * 5) % len(styles)])
        yield _spelled("tool", f"{tool}, {name}", sample_notebooks.by_tool(tool), STYLES[name], at)


def _of_spellings() -> Iterator[Item]:
    for indent_name, indent in INDENTS.items():
        for newline_name, newline in NEWLINES.items():
            if indent is None and newline != "\n":
                continue
            final = {"LF": "\n", "CRLF": "", "CR": "\r", "blank lines": "\n\n"}[newline_name]
            style = Spelling(indent, newline, final=final)
            whole = sample_notebooks.in_language("python")
            yield _spelled("spelling", f"{indent_name}, {newline_name}", whole, style)
    for name, style in STYLES.items():
        yield _spelled("spelling", name, sample_notebooks.in_language("julia"), style, 7)
    yield _mixed()


def _mixed() -> Item:
    """Three kinds of line ends in one file, as after a bad merge."""
    lines = spell(sample_notebooks.in_language("R"), Spelling()).split("\n")
    ends = ["\n", "\r\n", "\r"]
    text = "".join(line + ends[at % 3] for at, line in enumerate(lines))
    return Item("spelling", "all line ends", "spelled", text.encode())


def _of_formats() -> Iterator[Item]:
    for minor in range(6):
        for name in ("compact", "colab", "escaped"):
            whole = sample_notebooks.by_chance(minor, minor)
            yield _spelled("format", f"4.{minor}, {name}", whole, STYLES[name], minor)


def _of_format_3() -> Iterator[Item]:
    for name in ("compact", "go", "vscode", "windows editor", "php", "java", "trailing tabs"):
        yield _spelled("format 3", name, sample_notebooks.old(), STYLES[name], 3)
    yield _nbformat("format 3", "nbformat", sample_notebooks.old("R"), version=3)
    empty = sample_notebooks.old()
    empty["worksheets"][0]["cells"] = []
    yield _spelled("format 3", "no cells", empty, STYLES["go"])
    sparse = sample_notebooks.old()
    for cell in sparse["worksheets"][0]["cells"]:
        for name in ("metadata", "prompt_number", "collapsed"):
            cell.pop(name, None)
    yield _spelled("format 3", "sparse cells", sparse, STYLES["vscode"])
    oldest = sample_notebooks.old()
    for cell in oldest["worksheets"][0]["cells"]:
        key = "input" if cell["cell_type"] == "code" else "source"
        cell[key] = "".join(cell[key]).split("\n")
    yield _spelled("format 3", "lines without ends", oldest, STYLES["go"])


def _of_unicode() -> Iterator[Item]:
    for name, source in unusual_notebooks.UNICODE.items():
        whole = unusual_notebooks.with_text(source)
        yield _spelled("unicode", f"{name}, as it is", whole, STYLES["colab"])
        yield _spelled("unicode", f"{name}, escaped", whole, STYLES["escaped"])


def _of_structures() -> Iterator[Item]:
    styles = ["go", "compact", "vscode", "java", "colab", "azure"]
    for at, (name, whole) in enumerate(unusual_notebooks.structures().items()):
        yield _spelled("structure", name, whole, STYLES[styles[at % len(styles)]], at)


def _of_sizes() -> Iterator[Item]:
    yield _json("size", "half a MB of lines", unusual_notebooks.huge(0.5), indent=1)
    yield _json("size", "1 MB on one line", unusual_notebooks.huge(1), indent=None)
    yield _json("size", "4 MB picture", unusual_notebooks.big_picture(4), indent=2)


def _by_nbformat() -> Iterator[Item]:
    for seed in range(50):
        minor = seed % 6
        whole = sample_notebooks.by_chance(1_000 + seed, minor)
        yield _nbformat("nbformat", f"4.{minor}, seed {seed}", whole, version=4)
    for name in ("attachments", "widget state", "rich outputs", "tables", "more members"):
        whole = unusual_notebooks.structures()[name]
        yield _nbformat("nbformat", name, whole, version=4)


def _by_hand() -> Iterator[Item]:
    for file in sorted(FILES.glob("*.nb")):
        yield Item("hand", file.stem, "hand", file.read_bytes())


def _spelled(kind: str, name: str, whole: Json, style: Spelling, seed: int = 0) -> Item:
    text = spell(whole, style, seed)
    return Item(kind, name, "spelled", text.encode())


def _json(kind: str, name: str, whole: Json, indent: int | None) -> Item:
    text = json.dumps(whole, indent=indent, ensure_ascii=False)
    return Item(kind, name, "json", text.encode())


def _nbformat(kind: str, name: str, whole: Json, version: int) -> Item:
    node: Any = cast("Any", nbformat).from_dict(_plain(whole))
    writer: Any = nbformat.v3 if version == 3 else nbformat.v4
    text = cast("str", writer.writes_json(node)) + "\n"
    return Item(kind, name, "nbformat", text.encode())


def _plain(value: Any) -> Any:
    match value:
        case Literally() | Twice():
            raise TypeError("nbformat has one spelling")
        case dict():
            pairs = cast("Json", value).items()
            return {key: _plain(item) for key, item in pairs}
        case list():
            return [_plain(item) for item in cast("list[Any]", value)]
        case _:
            return value
