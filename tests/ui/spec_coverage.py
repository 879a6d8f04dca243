"""Maps the clauses in ``clauses/*.txt`` to the browser tests marked to show them.

``test_spec_coverage`` compares the two; run as a module it prints the table.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).parent
CLAUSE_FILES = tuple(sorted(HERE.glob("clauses/*.txt")))


def clauses(text: str) -> dict[str, str]:
    """Return the clauses by id, in file order.

    Raises:
        ValueError: two clauses have the same id.
    """
    found: dict[str, str] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        name, clause = line.split(maxsplit=1)
        if name in found:
            raise ValueError(f"two clauses are called {name}: give the second another number")
        found[name] = clause
    return found


def every_clause() -> dict[str, str]:
    """Return the clauses of all files.

    Raises:
        ValueError: two clauses have the same id.
    """
    return clauses("\n".join(path.read_text(encoding="utf-8") for path in CLAUSE_FILES))


def marks(source: str) -> Iterator[tuple[str, str]]:
    """Yield each id that a test in the module is marked to show, with the test's name."""
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
    """Return the tests that show each id, as ``file::test``; an id may be unknown."""
    found: dict[str, list[str]] = {}
    for path in sorted(HERE.rglob("test_*.py")):
        for name, test in marks(path.read_text(encoding="utf-8")):
            found.setdefault(name, []).append(f"{path.name}::{test}")
    return found


def main() -> None:
    """Print the table."""
    tests = shown()
    for name, clause in every_clause().items():
        print(f"{name:20}  {clause}")  # noqa: T201  prints the table for a reader
        for test in tests.get(name, ["(not shown)"]):
            print(f"{'':20}    {test}")  # noqa: T201  as above


if __name__ == "__main__":
    main()
