"""Questions to search, drawn from notebooks, Python files and Markdown files.

Used by ``search_quality``. Nothing is invented: a question is a sentence or a heading of a document
and its answer what that describes. The search never gets to see the sentence where it was found:

* notebooks: the last sentence of a Markdown cell directly above a code cell, the answer is the code
  cell. The Markdown cell and its copies are left out of all results.
* code: the first sentence of the docstring of a top-level function or class, the answer is the
  definition. The sentence is removed from the definition before that is indexed.
* text: the heading of a section of a Markdown file, the answer is the text up to the next heading.
  The heading is removed, also from the trail of headings of the sections below.

Chunks of code and text that have the whole question elsewhere, such as a table of contents, are
left out of all results.
"""

from __future__ import annotations

import ast
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.notebook.formats.notebook_file import parse_notebook
from jupyter_ai_shoulders.retrieval.chunk import Chunk, ChunkedDocument
from jupyter_ai_shoulders.retrieval.chunking import TRAIL, notebook_chunks
from jupyter_ai_shoulders.retrieval.document_kinds import split_text

LEAST_WORDS = 4
"""Words of a sentence that is a question, and of a section that is an answer."""
LEAST_HEADING_WORDS = 3
SEED = 21
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n\s*\n")
_MARKUP = re.compile(r"[#*`_>$|]+|\[([^]]*)\]\([^)]*\)|<[^>]+>")
_HEADING = re.compile(r"#{1,6}[ \t]")
_WORD = re.compile(r"[A-Za-z]{2,}")

Place = tuple[str, str]
"""A path, and the id of a cell or the line of a chunk, as the product tells results apart."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Question:
    """A text, the places that have it, and the places that are right answers."""

    text: str
    own: frozenset[Place]
    answers: frozenset[Place]


@dataclass(frozen=True, slots=True)
class Corpus:
    """Documents as they are indexed, and questions to them."""

    documents: tuple[ChunkedDocument, ...]
    questions: tuple[Question, ...]


Draw = Callable[[Sequence[Path], int], Corpus]
"""Draws so many questions from folders, the same ones from the same folders."""


def place(path: str, chunk: Chunk) -> Place:
    """Return the place of a chunk."""
    return path, chunk.cell_id or str(chunk.line)


# notebooks


def notebook_corpus(folders: Sequence[Path], count: int) -> Corpus:
    """See ``Draw``."""
    documents: list[ChunkedDocument] = []
    texts: dict[str, set[Place]] = {}
    found: list[tuple[str, str, Place]] = []
    for name, content in _files(folders, "*.ipynb"):
        try:
            cells = parse_notebook(content, name).cells
        except ShouldersError:
            continue
        views = [cell.view() for cell in cells]
        documents.append(ChunkedDocument(name, "notebook", tuple(notebook_chunks(views))))
        for cell in cells:
            texts.setdefault(cell.source, set()).add((name, cell.id))
        for above, below in pairwise(cells):
            if (above.cell_type, below.cell_type) != ("markdown", "code"):
                continue
            sentence = _sentence(above.source, -1)
            if len(sentence.split()) >= LEAST_WORDS and below.source.strip():
                found.append((sentence, above.source, (name, below.id)))
    questions = [
        Question(text, frozenset(texts[own]), frozenset([answer]))
        for text, own, answer in _drawn(found, count)
    ]
    return Corpus(tuple(documents), tuple(questions))


# code


@dataclass(frozen=True, slots=True)
class _Described:
    """A top-level definition, by its lines, and where the first sentence of its docstring is."""

    sentence: str
    path: str
    lines: range
    span: tuple[int, int]
    """Characters of the file."""


def code_corpus(folders: Sequence[Path], count: int) -> Corpus:
    """See ``Draw``. Folders named ``tests`` are left out."""
    files: dict[str, str] = {}
    for name, content in _files(folders, "*.py"):
        if "tests" not in name.split("/"):
            files[name] = content.decode("utf-8", "replace").replace("\r\n", "\n")
    described = [each for name, text in files.items() for each in _described(name, text)]
    chosen = _drawn(_unique(described, lambda each: each.sentence), count)
    for each in sorted(chosen, key=lambda each: -each.span[0]):
        text, (start, end) = files[each.path], each.span
        lines = "\n" * text.count("\n", start, end)  # the others keep their line numbers
        files[each.path] = text[:start] + lines + text[end:]
    documents = [
        ChunkedDocument(name, "code", split_text(name, "code", text))
        for name, text in files.items()
    ]
    chunks = {document.path: document.chunks for document in documents}
    answers = [
        (
            each.sentence,
            [(each.path, chunk) for chunk in chunks[each.path] if chunk.line in each.lines],
        )
        for each in chosen
    ]
    return _corpus(documents, answers)


def _described(path: str, text: str) -> Iterator[_Described]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    starts = [0, *(found.end() for found in re.finditer("\n", text)), len(text)]
    for node in tree.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        sentence = _sentence(ast.get_docstring(node) or "", 0)
        if len(sentence.split()) < LEAST_WORDS:
            continue
        first = min(each.lineno for each in (node, *node.decorator_list))
        last = node.end_lineno or first
        raw = _SENTENCE.split((ast.get_docstring(node) or "").strip())[0]
        words = re.compile(r"\s+".join(map(re.escape, raw.split())))
        begin, end = starts[node.body[0].lineno - 1], starts[last]
        span = words.search(text, begin, end)
        whole = text[starts[first - 1] : end]
        if span is not None and _normal(whole).count(_normal(sentence)) == 1:
            yield _Described(sentence, path, range(first, last + 1), span.span())


# Markdown


@dataclass(frozen=True, slots=True)
class _Section:
    """A section of a Markdown file."""

    title: str
    path: str
    trail: str
    chunks: tuple[Chunk, ...]


def text_corpus(folders: Sequence[Path], count: int) -> Corpus:
    """See ``Draw``."""
    documents = [
        ChunkedDocument(name, "text", split_text(name, "text", content.decode("utf-8", "replace")))
        for name, content in _files(folders, "*.md")
    ]
    sections = [each for document in documents for each in _sections(document)]
    chosen = _drawn(_unique(sections, lambda each: each.title), count)
    removed = {(each.path, each.trail) for each in chosen}
    documents = [_without_headings(document, removed) for document in documents]
    answers = [(each.title, [(each.path, chunk) for chunk in each.chunks]) for each in chosen]
    return _corpus(documents, answers)


def _sections(document: ChunkedDocument) -> Iterator[_Section]:
    """Yield the sections that have a heading of some words and a text."""
    found: dict[str, list[Chunk]] = {}
    for chunk in document.chunks:
        found.setdefault(chunk.heading, []).append(chunk)
    for trail, chunks in found.items():
        title = _plain(trail.rpartition(TRAIL)[2])
        begins = [chunk for chunk in chunks if _HEADING.match(chunk.text)]
        text = _normal("\n".join(chunk.text for chunk in chunks))
        if (
            len(_WORD.findall(title)) >= LEAST_HEADING_WORDS
            and begins == chunks[:1]
            and text.count(_normal(title)) == 1
            and len(_WORD.findall(_without_first_line(chunks[0].text))) >= LEAST_WORDS
        ):
            yield _Section(title, document.path, trail, tuple(chunks))


def _without_headings(document: ChunkedDocument, removed: set[tuple[str, str]]) -> ChunkedDocument:
    """Return a document without some headings, which are named by their trails."""
    chunks: list[Chunk] = []
    for chunk in document.chunks:
        parts = chunk.heading.split(TRAIL)
        trails = [TRAIL.join(parts[: number + 1]) for number in range(len(parts))]
        kept = [
            part
            for part, trail in zip(parts, trails, strict=True)
            if (document.path, trail) not in removed
        ]
        is_own = (document.path, chunk.heading) in removed and _HEADING.match(chunk.text)
        text = _without_first_line(chunk.text) if is_own else chunk.text
        chunks.append(replace(chunk, heading=TRAIL.join(kept), text=text))
    return replace(document, chunks=tuple(chunks))


def _without_first_line(text: str) -> str:
    return text.partition("\n")[2].strip("\n")


# shared


def _files(folders: Sequence[Path], pattern: str) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of files, each content once."""
    seen: set[bytes] = set()
    for folder in folders:
        for path in sorted(folder.rglob(pattern)):
            content = path.read_bytes()
            if ".ipynb_checkpoints" in path.parts or content in seen:
                continue
            seen.add(content)
            name = path.relative_to(folder).as_posix()
            yield (name if len(folders) == 1 else f"{folder.name}/{name}"), content


def _drawn(found: Sequence[T], count: int) -> list[T]:
    return random.Random(SEED).sample(found, min(count, len(found)))


def _unique(found: Iterable[T], text: Callable[[T], str]) -> list[T]:
    """Leave out what shares its question with another one."""
    items = list(found)
    counts = Counter(_normal(text(each)) for each in items)
    return [each for each in items if counts[_normal(text(each))] == 1]


def _corpus(
    documents: Sequence[ChunkedDocument],
    answers: Iterable[tuple[str, Sequence[tuple[str, Chunk]]]],
) -> Corpus:
    """Return the questions with the places that have their whole text."""
    texts = [
        (place(document.path, chunk), _normal(f"{chunk.heading}\n{chunk.text}"))
        for document in documents
        for chunk in document.chunks
    ]
    questions: list[Question] = []
    for question, chunks in answers:
        own = frozenset(where for where, text in texts if _normal(question) in text)
        right = frozenset(place(path, chunk) for path, chunk in chunks)
        assert right, question
        assert not own & right, question
        questions.append(Question(question, own, right))
    return Corpus(tuple(documents), tuple(questions))


def _sentence(source: str, which: int) -> str:
    """Return the first or the last sentence of a text, without markup."""
    text = _MARKUP.sub(lambda match: match[1] or " ", source)
    parts = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    return " ".join(parts[which].split()) if parts else ""


def _plain(text: str) -> str:
    return " ".join(_MARKUP.sub(lambda match: match[1] or " ", text).split())


def _normal(text: str) -> str:
    """Return a text for comparisons."""
    return _plain(text).casefold()
