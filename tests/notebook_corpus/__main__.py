"""``python -m tests.notebook_corpus [FOLDER]``: count the corpus by kind, or write it."""

import sys
from collections import Counter
from pathlib import Path

from tests.notebook_corpus.broken_notebooks import broken
from tests.notebook_corpus.build import corpus


def main(arguments: list[str]) -> None:
    items, bad = corpus(), broken()
    kinds = Counter(item.kind for item in items)
    writers = Counter(item.writer for item in items)
    sizes = sum(len(item.content) for item in items)
    lines = [
        f"{len(items)} notebooks, {sizes / 1e6:.1f} MB, and {len(bad)} broken files",
        *(f"  {count:4} {kind}" for kind, count in kinds.most_common()),
        *(f"  {count:4} written by {writer}" for writer, count in writers.most_common()),
    ]
    sys.stdout.write("\n".join(lines) + "\n")
    for folder in map(Path, arguments):
        folder.mkdir(parents=True, exist_ok=True)
        files = [(item.id, item.content) for item in items]
        for name, content in [*files, *((f"broken/{item.name}", item.content) for item in bad)]:
            (folder / (name.replace("/", "-") + ".ipynb")).write_bytes(content)


main(sys.argv[1:])
