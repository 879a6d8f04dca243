"""Measures how well search finds what a sentence describes, over folders of public documents.

``python -m tests.bench.search_quality FOLDER… --kind notebook|code|text`` prints a table. Questions
and answers are described in ``tests.bench.search_questions``. The reference is SQLite's FTS5 with
its stemmer over the same chunks, all words joined by OR.

``--vectors FILE`` also measures search by meaning and both together, with all-MiniLM-L6-v2
(``tests.bench.sentence_embedder``). The vectors are kept in the file: making them takes a quarter
of an hour for 5 000 chunks on one core.
"""

from __future__ import annotations

import argparse
import re
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from jupyter_ai_shoulders.retrieval.chunk import Chunk, ChunkedDocument
from jupyter_ai_shoulders.retrieval.fusion import rank_places
from jupyter_ai_shoulders.retrieval.index_file import IndexFile
from jupyter_ai_shoulders.retrieval.service import CANDIDATES
from jupyter_ai_shoulders.retrieval.word_index import (
    ChunkFilter,
    FileStamp,
    IndexedChunk,
    WordIndex,
)
from tests.bench.search_questions import (
    Draw,
    Place,
    Question,
    code_corpus,
    notebook_corpus,
    place,
    text_corpus,
)
from tests.bench.sentence_embedder import SentenceEmbedder

QUESTIONS = 400
FIRST = 10
"""Results among which the answer must be."""
STORED_EVERY = 500
"""Vectors after which the file is written."""
KINDS: dict[str, Draw] = {
    "notebook": notebook_corpus,
    "code": code_corpus,
    "text": text_corpus,
}

Search = Callable[[str], Sequence[Place]]
"""Returns more than ``FIRST`` places, best first."""


def main() -> None:
    """Measure the folders that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.search_quality")
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--kind", choices=KINDS, default="notebook")
    parser.add_argument("--questions", type=int, default=QUESTIONS)
    parser.add_argument("--vectors", type=Path)
    options = parser.parse_args()
    corpus = KINDS[options.kind](options.folders, options.questions)
    documents, questions = corpus.documents, corpus.questions
    chunks = sum(len(document.chunks) for document in documents)
    print(f"{len(documents)} documents, {chunks} chunks, {len(questions)} questions\n")
    print(f"| search | answer among the first {FIRST} | × reference |\n|---|--:|--:|")
    with tempfile.TemporaryDirectory() as folder:
        index = word_index(documents, Path(folder))
        ways = {
            "FTS5 with its stemmer (reference)": stemmed_search(documents),
            "words": _found(_by_words(index)),
        }
        if options.vectors is not None:
            by_meaning = _by_meaning(index, Vectors(options.vectors, documents, questions))
            ways["meaning"] = _found(by_meaning)
            ways["both (hybrid)"] = _found(_by_words(index), by_meaning)
        reference = 0.0
        for name, search in ways.items():
            share = hits(search, questions)
            reference = reference or share
            print(f"| {name} | {share:.3f} | {share / reference:.2f} |")


def hits(search: Search, questions: Sequence[Question]) -> float:
    """Return the share of questions whose answer is among the first results."""
    found = 0
    for question in questions:
        places = (place for place in search(question.text) if place not in question.own)
        found += not question.answers.isdisjoint(list(dict.fromkeys(places))[:FIRST])
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
            for number, key in enumerate(missing, 1):
                known[key] = embedder.embed([texts[key]])[0].astype(np.float16)
                if number % STORED_EVERY == 0 or number == len(missing):
                    np.savez(file, **known)
                    print(f"{number} of {len(missing)} vectors", file=sys.stderr)
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


def _found(words: Ranking, meaning: Ranking | None = None) -> Search:
    """Return a search that combines rankings as the product does."""

    def search(query: str) -> Sequence[Place]:
        found = rank_places(words(query), [] if meaning is None else meaning(query))
        return [place(each.chunk.path, each.chunk.chunk) for each in found]

    return search


def _places(documents: Sequence[ChunkedDocument]) -> Iterator[tuple[Place, Chunk]]:
    for document in documents:
        for chunk in document.chunks:
            yield place(document.path, chunk), chunk


if __name__ == "__main__":
    main()
