"""Measures how well search finds the cell that a sentence is about, over a folder of notebooks.

``python -m tests.bench.search_quality FOLDER`` prints a table. A question is the last sentence of a
Markdown cell directly above a code cell, if it has at least four words; the answer is the code
cell. The cell of the sentence itself is left out of all results, and so are copies of it. The
reference is SQLite's FTS5 with its stemmer over the same chunks, all words joined by OR.

``--vectors FILE`` also measures search by meaning and both together, with all-MiniLM-L6-v2
(``tests.bench.sentence_embedder``). The vectors are kept in the file: making them takes a quarter
of an hour for 7 000 chunks.
"""

from __future__ import annotations

import argparse
import random
import re
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from jupyter_ai_shoulders.core.errors import ShouldersError
from jupyter_ai_shoulders.notebook.formats.notebook_file import parse_notebook
from jupyter_ai_shoulders.retrieval.chunk import Chunk, ChunkedDocument
from jupyter_ai_shoulders.retrieval.chunking import notebook_chunks
from jupyter_ai_shoulders.retrieval.fusion import rank_places
from jupyter_ai_shoulders.retrieval.index_file import IndexFile
from jupyter_ai_shoulders.retrieval.service import CANDIDATES
from jupyter_ai_shoulders.retrieval.word_index import (
    ChunkFilter,
    FileStamp,
    IndexedChunk,
    WordIndex,
)
from tests.bench.sentence_embedder import SentenceEmbedder

QUESTIONS = 400
FIRST = 10
"""Results among which the answer must be."""
LEAST_WORDS = 4
_SENTENCE = re.compile(r"(?<=[.!?:])\s+|\n\s*\n")
_MARKUP = re.compile(r"[#*`_>$|]+|\[([^]]*)\]\([^)]*\)|<[^>]+>")

Place = tuple[str, str]
"""A path and the id of a cell."""
Search = Callable[[str], Sequence[Place]]
"""Returns more than ``FIRST`` places, best first."""


@dataclass(frozen=True, slots=True)
class Question:
    """A sentence, the cell it is in, and the cell it is about."""

    text: str
    own: frozenset[Place]
    answer: Place


def main() -> None:
    """Measure the folder that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.search_quality")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--vectors", type=Path)
    options = parser.parse_args()
    documents = list(read_notebooks(options.folder))
    questions = draw_questions(options.folder, documents, options.questions)
    chunks = sum(len(document.chunks) for document in documents)
    print(f"{len(documents)} notebooks, {chunks} chunks, {len(questions)} questions\n")
    print(f"| search | answer among the first {FIRST} | × reference |\n|---|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        index = word_index(documents, Path(folder))
        ways = {
            "FTS5 with its stemmer (reference)": stemmed_search(documents),
            "words": _cells(_by_words(index)),
        }
        if options.vectors is not None:
            by_meaning = _by_meaning(index, Vectors(options.vectors, documents, questions))
            ways["meaning"] = _cells(by_meaning)
            ways["both (hybrid)"] = _cells(_by_words(index), by_meaning)
        reference = 0.0
        for name, search in ways.items():
            share = hits(search, questions)
            reference = reference or share
            print(f"| {name} | {share:.3f} | {share / reference:.2f} |")


def read_notebooks(folder: Path) -> Iterator[ChunkedDocument]:
    """Yield the readable notebooks of a folder, each text once."""
    seen: set[bytes] = set()
    for path in sorted(folder.rglob("*.ipynb")):
        content = path.read_bytes()
        if ".ipynb_checkpoints" in path.parts or content in seen:
            continue
        seen.add(content)
        try:
            cells = [cell.view() for cell in parse_notebook(content, path.name).cells]
        except ShouldersError:
            continue
        name = path.relative_to(folder).as_posix()
        yield ChunkedDocument(name, "notebook", tuple(notebook_chunks(cells)))


def draw_questions(
    folder: Path, documents: Sequence[ChunkedDocument], count: int
) -> list[Question]:
    """Return so many questions, the same ones for the same folder."""
    texts: dict[str, set[Place]] = {}
    found: list[tuple[str, str, Place]] = []
    for document in documents:
        cells = parse_notebook((folder / document.path).read_bytes(), document.path).cells
        for cell in cells:
            texts.setdefault(cell.source, set()).add((document.path, cell.id))
        for above, below in pairwise(cells):
            if (above.cell_type, below.cell_type) != ("markdown", "code"):
                continue
            sentence = _last_sentence(above.source)
            if len(sentence.split()) >= LEAST_WORDS and below.source.strip():
                found.append((sentence, above.source, (document.path, below.id)))
    chosen = random.Random(21).sample(found, min(count, len(found)))
    return [Question(text, frozenset(texts[own]), answer) for text, own, answer in chosen]


def hits(search: Search, questions: Sequence[Question]) -> float:
    """Return the share of questions whose answer is among the first results."""
    found = 0
    for question in questions:
        places = (place for place in search(question.text) if place not in question.own)
        found += question.answer in list(dict.fromkeys(places))[:FIRST]
    return found / len(questions)


def stemmed_search(documents: Sequence[ChunkedDocument]) -> Search:
    """Return the reference."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE found USING fts5(text, tokenize = 'porter')")
    places = list(_places(documents))
    connection.executemany(
        "INSERT INTO found (rowid, text) VALUES (?, ?)",
        ((number, chunk.text) for number, (_, chunk) in enumerate(places)),
    )

    def search(query: str) -> Sequence[Place]:
        match = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", query))
        rows: list[tuple[int]] = connection.execute(
            "SELECT rowid FROM found WHERE found MATCH ? ORDER BY rank LIMIT 100", (match,)
        ).fetchall()
        return [places[number][0] for (number,) in rows]

    return search


def word_index(documents: Sequence[ChunkedDocument], folder: Path) -> WordIndex:
    """Return an index of the documents."""
    index = WordIndex(IndexFile(folder / "words.db"))
    with index.transaction():
        for document in documents:
            index.replace(document, FileStamp(0, 0))
    return index


class Vectors:
    """Vectors of all chunks and questions, kept in a file."""

    def __init__(
        self, file: Path, documents: Sequence[ChunkedDocument], questions: Sequence[Question]
    ) -> None:
        chunks = (chunk for document in documents for chunk in document.chunks)
        texts = {chunk.digest: chunk.embedded for chunk in chunks}
        texts |= {question.text: question.text for question in questions}
        known = dict(np.load(file)) if file.exists() else {}
        missing = [key for key in texts if key not in known]
        if missing:
            embedder = SentenceEmbedder()
            for number, key in enumerate(missing):
                known[key] = embedder.embed([texts[key]])[0].astype(np.float16)
                print(f"\r{number + 1} of {len(missing)} vectors", end="", flush=True)
            np.savez(file, **known)
        self.digests = [chunk.digest for document in documents for chunk in document.chunks]
        self._chunks = np.stack([known[digest] for digest in self.digests]).astype(np.float32)
        self._queries = {each.text: known[each.text].astype(np.float32) for each in questions}

    def nearest(self, query: str, limit: int) -> list[str]:
        """Return the digests of the nearest chunks, best first."""
        scores = self._chunks @ self._queries[query]
        best: list[int] = np.argsort(-scores)[:limit].tolist()
        return list(dict.fromkeys(self.digests[number] for number in best))


Ranking = Callable[[str], Sequence[IndexedChunk]]


def _by_words(index: WordIndex) -> Ranking:
    return lambda query: index.search(f"{query} ", ChunkFilter(), CANDIDATES)


def _by_meaning(index: WordIndex, vectors: Vectors) -> Ranking:
    return lambda query: index.with_digests(vectors.nearest(query, CANDIDATES), ChunkFilter())


def _cells(words: Ranking, meaning: Ranking | None = None) -> Search:
    """Return a search that combines rankings as the product does."""

    def search(query: str) -> Sequence[Place]:
        found = rank_places(words(query), [] if meaning is None else meaning(query))
        return [(each.chunk.path, each.chunk.chunk.cell_id or "") for each in found]

    return search


def _places(documents: Sequence[ChunkedDocument]) -> Iterator[tuple[Place, Chunk]]:
    for document in documents:
        for chunk in document.chunks:
            yield (document.path, chunk.cell_id or ""), chunk


def _last_sentence(source: str) -> str:
    text = _MARKUP.sub(lambda match: match[1] or " ", source)
    parts = [part.strip() for part in _SENTENCE.split(text) if part.strip()]
    return " ".join(parts[-1].split()) if parts else ""


if __name__ == "__main__":
    main()
