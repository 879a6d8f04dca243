"""Which files are searched, as what, and how they are split.

Pure; used by ``host.search``. Files of other kinds are searched when a setting includes them.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from itertools import islice

from jupyter_ai_shoulders.retrieval.chunk import Chunk
from jupyter_ai_shoulders.retrieval.chunking import (
    code_chunks,
    markdown_chunks,
    reference_chunks,
    text_chunks,
)
from jupyter_ai_shoulders.wire.api.search import FileKind

TEXT_BYTES = 2 << 20
NOTEBOOK_BYTES = 32 << 20
DOCUMENT_BYTES = 64 << 20
"""Size of the largest file of a kind that is read."""
MOST_CHUNKS = 2_000
"""Chunks of one document; the rest of a longer one is not searched."""
DATA_CHUNKS = 20
"""Chunks of a file of data, of which the beginning shows the names."""


def _suffixes(names: str) -> frozenset[str]:
    return frozenset(f".{name}" for name in names.split())


_CODE = _suffixes(
    "py pyi pyx ipy r jl js jsx mjs cjs ts tsx vue svelte java kt scala groovy c h cc cpp cxx hpp"
    " cu cs go rs rb php pl lua swift m f f90 f95 sql sh bash zsh fish ps1 do sas stan hs ml clj ex"
    " exs erl dart nim proto tf cmake css scss"
)
_MARKDOWN = _suffixes("md markdown mdx qmd rmd rst adoc org")
_TEXT = _suffixes("txt text tex ini cfg toml yaml yml conf")
_DATA = _suffixes("csv tsv json jsonl ndjson geojson xml html htm log")
_DOCUMENTS = _suffixes("pdf docx docm xlsx xlsm xlsb xls ods")
_CODE_NAMES = frozenset(("makefile", "dockerfile", "snakefile", "jenkinsfile"))
_PLAIN_NAMES = frozenset(("readme", "license", "licence", "changelog", "authors", "todo", "notice"))


def document_kind(path: str) -> FileKind | None:
    """Return as what a file is searched, by its name; None if it is not."""
    name = posixpath.basename(path).lower()
    suffix = posixpath.splitext(name)[1]
    if suffix == ".ipynb":
        return "notebook"
    if suffix in _CODE or name in _CODE_NAMES:
        return "code"
    if suffix == ".bib":
        return "reference"
    if suffix in _DOCUMENTS:
        return "document"
    is_text = suffix in _MARKDOWN or suffix in _TEXT or suffix in _DATA or name in _PLAIN_NAMES
    return "text" if is_text else None


def size_limit(kind: FileKind) -> int:
    """Return the size in bytes above which a file is not read."""
    match kind:
        case "notebook":
            return NOTEBOOK_BYTES
        case "document":
            return DOCUMENT_BYTES
        case "code" | "text" | "reference":
            return TEXT_BYTES


def split_text(path: str, kind: FileKind, text: str) -> tuple[Chunk, ...]:
    """Return the chunks of a document that is text, or of a preview."""
    suffix = posixpath.splitext(path.lower())[1]
    limit = DATA_CHUNKS if suffix in _DATA else MOST_CHUNKS
    return tuple(islice(_split(kind, suffix, text), limit))


def _split(kind: FileKind, suffix: str, text: str) -> Iterator[Chunk]:
    if kind == "code":
        return code_chunks(text)
    if kind == "reference":
        return reference_chunks(text)
    if kind == "document" or suffix in _MARKDOWN:
        return markdown_chunks(text)
    return text_chunks(text)
