"""Conventions that linters do not know: sizes, plain words, citations that resolve."""

from __future__ import annotations

import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MOST_LINES = 400
"""Lines of a file; a longer one says more than one thing."""
MOST_FUNCTION_LINES = 50
GENERATED = {"labextension/src/wire/generated.ts"}
ODD_WORDS = ROOT / ".ci" / "odd_words.txt"
CITATION = re.compile(r"\b(docs/[\w./-]+\.md)(?:#([\w-]+))?")
FOREIGN_CITATION = re.compile(r"\bchapters? \d|\breference §|§ ?\d")
"""Citations of texts that are not in the repository."""
_TYPESCRIPT_COMMENT = re.compile(r"^\s*(/?\*|//)|\s//\s")


def tracked(*patterns: str) -> list[str]:
    """Return the paths of tracked files that match these patterns of git."""
    command = ["git", "ls-files", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return [name for name in listed.splitlines() if (ROOT / name).is_file()]


def source_files() -> list[str]:
    """Return the product's Python and TypeScript files."""
    names = tracked("jupyter_ai_shoulders/*.py", "labextension/src/*.ts", "labextension/src/*.tsx")
    return [name for name in names if name not in GENERATED]


def prose_files() -> list[str]:
    """Return the files whose words are checked: code, tests and documents, but no prompts."""
    lists = {".ci/odd_words.txt", ".ci/metrics.py", "docs/glossary.md"}
    others = tracked("*.md", "tests/*.py", "tests/*.txt", ".ci/*", "Makefile", "pyproject.toml")
    return [
        name
        for name in [*source_files(), *others]
        if name not in lists and "/prompts/" not in name and "/golden/" not in name
    ]


def numbered_lines(name: str) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file with their numbers."""
    yield from enumerate((ROOT / name).read_text("utf-8").splitlines(), 1)


def prose_lines(name: str) -> Iterator[tuple[int, str]]:
    """Yield what people read: comments and docstrings of code, all lines of other files."""
    if name.endswith(".py"):
        for token in tokenize.generate_tokens(
            io.StringIO((ROOT / name).read_text("utf-8")).readline
        ):
            if token.type == tokenize.COMMENT or token.string.startswith(('"""', 'r"""')):
                yield from enumerate(token.string.splitlines(), token.start[0])
    elif name.endswith((".ts", ".tsx")):
        yield from (each for each in numbered_lines(name) if _TYPESCRIPT_COMMENT.search(each[1]))
    else:
        yield from numbered_lines(name)


def long_functions(name: str) -> list[str]:
    """Return the functions of a Python file that are too long."""
    return [
        f"{name}:{node.lineno} {node.name}"
        for node in ast.walk(ast.parse((ROOT / name).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or node.lineno) - node.lineno >= MOST_FUNCTION_LINES
    ]


def heading_anchors(document: Path) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", document.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_no_source_file_is_longer_than_the_limit() -> None:
    sources = [name for name in source_files() if "__tests__" not in name]
    long = [name for name in sources if sum(1 for _ in numbered_lines(name)) > MOST_LINES]
    assert long == []


def test_no_function_is_longer_than_the_limit() -> None:
    modules = [name for name in source_files() if name.endswith(".py")]
    assert [entry for name in modules for entry in long_functions(name)] == []


def test_texts_use_plain_words() -> None:
    words = [
        line for line in ODD_WORDS.read_text("utf-8").splitlines() if line[:1] not in {"", "#"}
    ]
    odd = re.compile(rf"\b(?:{'|'.join(words)})\b", re.IGNORECASE)
    found = [
        f"{name}:{number}: {match[0]}"
        for name in prose_files()
        if odd.search((ROOT / name).read_text("utf-8"))  # few: only these are divided into tokens
        for number, line in prose_lines(name)
        if (match := odd.search(line))
    ]
    assert found == []


def test_no_text_cites_what_is_not_in_the_repository() -> None:
    found = [
        f"{name}:{number}: {line.strip()}"
        for name in prose_files()
        for number, line in numbered_lines(name)
        if FOREIGN_CITATION.search(line) and not name.endswith("test_source_conventions.py")
    ]
    assert found == []


def test_citations_of_documents_resolve() -> None:
    broken: list[str] = []
    for name in prose_files():
        for number, line in numbered_lines(name):
            for path, anchor in CITATION.findall(line):
                document = ROOT / path
                if not document.is_file() or (anchor and anchor not in heading_anchors(document)):
                    broken.append(f"{name}:{number}: {path}#{anchor}")
    assert broken == []


@pytest.mark.parametrize("folder", ["jupyter_ai_shoulders", "labextension/src"])
def test_no_folder_holds_more_than_twenty_files(folder: str) -> None:
    counts: dict[Path, int] = {}
    for name in tracked(f"{folder}/*"):
        parent = Path(name).parent
        counts[parent] = counts.get(parent, 0) + 1
    crowded = {str(path): count for path, count in counts.items() if count > 20}
    assert set(crowded) <= {"jupyter_ai_shoulders/tools/prompts"}, crowded
