"""Print figures about the shape of the code base as a Markdown table: `python .ci/metrics.py`.

Reads the files tracked by git. `--list NAME` prints the entries behind one figure. For comparing
the code base before and after a restructuring.
"""

from __future__ import annotations

import argparse
import ast
import posixpath
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = "jupyter_ai_shoulders"
LAB = "labextension/src"
SMALL = 60
"""Files with fewer lines and a single importer usually belong to that importer."""
FULL_FOLDER = 20
LONG_FUNCTION = 50
_ODD = re.compile(
    r"\b(anew|meanwhile|whoever|hither|lets go|whatever there is|by then|of its own|comes to|"
    r"stands for|awaits|is told|goes on|begin anew)\b",
    re.IGNORECASE,
)
_SPECIFIER = re.compile(r"""(?:\bfrom|\bimport|\bimport\()\s*['"](\.{1,2}/[^'"]*|\.{1,2})['"]""")

Entries = dict[str, list[str]]


def tracked() -> list[str]:
    """Return the paths of all existing files tracked by git."""
    command = ["git", "ls-files"]
    names = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [name for name in names.splitlines() if Path(name).is_file()]


def dotted(path: str) -> str:
    """Return the import name of a Python file."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def python_imports(path: str, tree: ast.Module, modules: dict[str, str]) -> Iterator[str]:
    """Yield the paths of the project's modules that a module imports at load time."""
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                name = f"{node.module}.{alias.name}"
                target = modules.get(name) or modules.get(node.module)
                if target is not None and target != path:
                    yield target
        elif isinstance(node, ast.Import):
            yield from (modules[alias.name] for alias in node.names if alias.name in modules)


def typescript_imports(path: str, text: str, known: set[str]) -> Iterator[str]:
    """Yield the paths of the files that a TypeScript file imports."""
    for match in _SPECIFIER.finditer(text):
        base = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
        for ending in ("", ".ts", ".tsx", "/index.ts", "/index.tsx"):
            if base + ending in known:
                yield base + ending
                break


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Return the groups of files that import each other (Tarjan's algorithm)."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        order[node] = low[node] = len(order)
        stack.append(node)
        for after in graph.get(node, set()):
            if after not in order:
                visit(after)
                low[node] = min(low[node], low[after])
            elif after in stack:
                low[node] = min(low[node], order[after])
        if low[node] == order[node]:
            group = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(group) > 1:
                found.append(sorted(group))

    for node in graph:
        if node not in order:
            visit(node)
    return found


def lines(path: str) -> int:
    """Return the number of lines of a file."""
    return Path(path).read_bytes().count(b"\n")


def full_folders(paths: Iterable[str]) -> list[str]:
    """Return the folders with more than `FULL_FOLDER` files, not counting sub-folders."""
    counts = Counter(posixpath.dirname(path) for path in paths)
    return [f"{folder}: {count}" for folder, count in counts.most_common() if count > FULL_FOLDER]


def single_importer(graph: dict[str, set[str]]) -> list[str]:
    """Return the small files with exactly one importer."""
    importers: dict[str, set[str]] = defaultdict(set)
    for path, targets in graph.items():
        for target in targets:
            importers[target].add(path)
    return [
        f"{path} ({lines(path)} lines, {next(iter(by))})"
        for path, by in sorted(importers.items())
        if len(by) == 1 and lines(path) < SMALL and not path.endswith(("__init__.py", "index.ts"))
    ]


def measure() -> tuple[list[tuple[str, str]], Entries]:
    """Return the figures, and the entries behind those that count something."""
    paths = tracked()
    python = [path for path in paths if path.startswith(f"{PACKAGE}/") and path.endswith(".py")]
    tests = [path for path in paths if path.startswith("tests/") and path.endswith(".py")]
    lab = [path for path in paths if path.startswith(LAB) and path.endswith((".ts", ".tsx"))]
    specs = [path for path in lab if "/__tests__/" in path]
    page = [path for path in lab if "/__tests__/" not in path]
    modules = {dotted(path): path for path in python}
    trees = {path: ast.parse(Path(path).read_text(encoding="utf-8")) for path in python}
    graph = {path: set(python_imports(path, tree, modules)) for path, tree in trees.items()}
    page_graph = {
        path: set(typescript_imports(path, Path(path).read_text(encoding="utf-8"), set(page)))
        for path in page
    }
    classes: dict[str, list[str]] = defaultdict(list)
    functions: list[tuple[int, str]] = []
    for path, tree in trees.items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(path)
        functions.extend(
            ((node.end_lineno or node.lineno) - node.lineno + 1, f"{path}:{node.name}")
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        )
    odd = [
        f"{path}:{number}: {line.strip()}"
        for path in [*python, *page]
        for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1)
        if _ODD.search(line)
    ]
    shared = {name: where for name, where in sorted(classes.items()) if len(where) > 1}
    entries: Entries = {
        "full-folders": full_folders(
            path for path in paths if path.startswith((PACKAGE, LAB, "tests/"))
        ),
        "small-files": single_importer(graph),
        "small-page-files": single_importer(page_graph),
        "class-names": [
            f"{name}: {' '.join(where)}"
            for name, where in sorted(classes.items())
            if len(where) > 1
        ],
        "long-functions": [
            f"{name}: {length}" for length, name in functions if length > LONG_FUNCTION
        ],
        "circles": [" ".join(group) for group in [*circles(graph), *circles(page_graph)]],
        "odd-words": odd,
    }
    rows = [
        ("Python modules in the wheel", str(len(python))),
        ("Python lines in the wheel", str(sum(map(lines, python)))),
        ("TypeScript files", str(len(page))),
        ("TypeScript lines", str(sum(map(lines, page)))),
        ("Test modules and lines in Python", f"{len(tests)}, {sum(map(lines, tests))}"),
        ("Test files and lines in TypeScript", f"{len(specs)}, {sum(map(lines, specs))}"),
        (
            "Largest Python and TypeScript file (lines)",
            f"{max(map(lines, python))}, {max(map(lines, page))}",
        ),
        (
            "Functions, and those over 50 lines",
            f"{len(functions)}, {len(entries['long-functions'])}",
        ),
        ("Folders with more than 20 files", str(len(entries["full-folders"]))),
        ("Files under 60 lines with one importer (Python)", str(len(entries["small-files"]))),
        (
            "Files under 60 lines with one importer (TypeScript)",
            str(len(entries["small-page-files"])),
        ),
        (
            "Class names that stand for several classes",
            f"{len(shared)} for {sum(map(len, shared.values()))}",
        ),
        ("Import circles", str(len(entries["circles"]))),
        ("Lines with odd words", str(len(odd))),
    ]
    return rows, entries


def main() -> None:
    """Print the table, or the entries behind one figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--list", metavar="NAME", help="print the entries behind a figure, such as class-names"
    )
    arguments = parser.parse_args()
    rows, entries = measure()
    if arguments.list is not None:
        print(*entries[arguments.list], sep="\n")
        return
    print(
        "| figure | value |",
        "|---|---|",
        *(f"| {name} | {value} |" for name, value in rows),
        sep="\n",
    )


if __name__ == "__main__":
    main()
