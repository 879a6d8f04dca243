"""Which browser test shows which clause of the chapters on panel, threads and suggestions.

``test_spec_coverage`` holds the two against each other; run as a module it prints the table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).parent
CHAPTERS = tuple(sorted(HERE.glob("chapter_*.txt")))


def clauses(text: str) -> dict[str, str]:
    """The clauses by id, in their order.

    Raises:
        ValueError: two of them have the same id.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, clause = line.split(maxsplit=1)
        if name in found:
            raise ValueError(f"two clauses are called {name}: number the second one anew")
        found[name] = clause
    return found


def every_clause() -> dict[str, str]:
    """The clauses of all chapters.

    Raises:
        ValueError: two of them have the same id.
    """
    return clauses("\n".join(path.read_text(encoding="utf-8") for path in CHAPTERS))


def marks(source: str) -> Iterator[tuple[str, str]]:
    """Each id that a test of a module is marked to show, with the test's name."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test_"):
            continue
        for decorator in node.decorator_list:
            if (
                isinstance(decorator, ast.Call)
                and ast.unparse(decorator.func) == "pytest.mark.shows"
            ):
                yield from ((ast.literal_eval(each), node.name) for each in decorator.args)


def shown() -> Mapping[str, list[str]]:
    """The tests that show each id, as ``file::test``; ids may be none of the chapter's."""
    found: dict[str, list[str]] = {}
    for path in sorted(HERE.rglob("test_*.py")):
        for name, test in marks(path.read_text(encoding="utf-8")):
            found.setdefault(name, []).append(f"{path.name}::{test}")
    return found


def main() -> None:
    """Print the table."""
    tests = shown()
    for name, clause in every_clause().items():
        print(f"{name:15}  {clause}")  # noqa: T201  a table to read is what this is run for
        for test in tests.get(name, ["(not shown)"]):
            print(f"{'':15}    {test}")  # noqa: T201  as above


if __name__ == "__main__":
    main()
