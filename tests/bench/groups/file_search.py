"""Finding files by name: ``@`` in the input, and ``list_files`` with a glob, at three sizes.

The floor lists all files with ripgrep, as a search without an index has to. A folder holds 24
files. Warm: within a second after another query, as while typing; each sample is the mean of
several queries, from a whole name to letters scattered over the path. After a pause every folder is
compared with the disk first, as before each listing. New file: a file made since the last query is
found. Memory is that of the index and of the texts that are searched, per file.
"""

from __future__ import annotations

import asyncio
import subprocess
import tempfile
import tracemalloc
from collections.abc import Mapping
from itertools import count
from pathlib import Path

from jupyter_ai_shoulders.guard.filesystem.workspace import Workspace
from jupyter_ai_shoulders.guard.search.path_index import PathIndex
from jupyter_ai_shoulders.guard.search.ripgrep import find_ripgrep
from jupyter_ai_shoulders.host.context.file_search import FileSearch
from jupyter_ai_shoulders.tools.files.list_files import ListFiles
from tests.bench.figures import Figure, Goal, single, timed
from tests.bench.timing import Sample, Stopwatch, Way, interleaved
from tests.tools.direct_calls import call

ROUNDS = 9
SIZES = (1_000, 16_000, 100_000)
FILES_PER_FOLDER = 24
GOALS = {1_000: 5, 16_000: 5, 100_000: 15}
QUERIES = ("report", "r", "rep12", "data/rep", "rprt1", "mdlcsv", "nothing here", "plot_99.py")
_WORDS = ("data", "model", "report", "figure", "notes", "plot", "clean", "result", "train", "eval")
_ENDINGS = (".py", ".csv", ".ipynb", ".md", ".json", ".txt")
SETTLED_SECONDS = 2.1
"""A folder changed less than 2 s before it was read is read again."""


class Case:
    """A workspace and what searches it; the clock says whether a query comes after a pause."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.now = 0.0
        self.index = PathIndex(workspace, lambda: self.now)
        self.search = FileSearch(workspace, self.index)
        self.listing = ListFiles(workspace, self.index)
        self.numbers = count()

    def ways(self) -> dict[str, Way]:
        """Return what is measured, by name."""
        return {
            "floor": self.floor,
            "warm": self.warm,
            "pause": self.after_pause,
            "new": self.new_file,
            "list": self.list,
        }

    async def floor(self) -> Sample:
        """List all files."""
        command = [find_ripgrep(), "--files", "--no-config", "."]
        watch = Stopwatch()
        subprocess.run(command, cwd=self.workspace.directory, stdout=subprocess.DEVNULL, check=True)  # noqa: ASYNC221 nothing else runs
        return watch.sample()

    async def warm(self) -> Sample:
        """Return the mean of the queries."""
        watch = Stopwatch()
        for query in QUERIES:
            await self.search.files(query)
        return watch.sample().over(len(QUERIES))

    async def after_pause(self) -> Sample:
        """Search when nobody has for a while."""
        self.now += 60
        watch = Stopwatch()
        await self.search.files("report")
        return watch.sample()

    async def new_file(self) -> Sample:
        """Search for a file that was just made."""
        self.now += 60
        name = f"brand_new_{next(self.numbers)}.py"
        folder = next(each for each in self.workspace.directory.iterdir() if each.is_dir())
        (folder / name).touch()
        watch = Stopwatch()
        found = await self.search.files(name)
        sample = watch.sample()
        assert [match.path for match in found.matches] == [f"{folder.name}/{name}"]
        return sample

    async def list(self) -> Sample:
        """List the files with an ending."""
        watch = Stopwatch()
        await call(self.listing, glob="*.csv")
        return watch.sample()


def measure() -> list[Figure]:
    """Measure all sizes."""
    return asyncio.run(_measure())


async def _measure() -> list[Figure]:
    figures: list[Figure] = []
    for files in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            make_tree(Path(folder), files)
            await asyncio.sleep(SETTLED_SECONDS)
            workspace = Workspace(folder)
            case = Case(workspace)
            watch = Stopwatch()
            await case.search.files("")
            first = watch.sample()
            taken = await interleaved(ROUNDS, case.ways())
            await case.search.aclose()
            figures += _figures(files, first, taken)
            figures.append(await _memory(workspace, files))
            workspace.close()
    return figures


def _figures(files: int, first: Sample, taken: Mapping[str, list[Sample]]) -> list[Figure]:
    name, goal, floor = f"{files:,} files".replace(",", " "), GOALS[files], taken["floor"]
    limit = Goal("at most", goal)
    return [
        timed(f"@, warm, {name}", taken["warm"], floor, limit),
        timed(f"@, after a pause, {name}", taken["pause"], floor),
        timed(f"@, new file, {name}", taken["new"], floor),
        timed(f"@, first query, {name}", [first], floor),
        timed(f"list_files *.csv, {name}", taken["list"], floor, limit),
    ]


async def _memory(workspace: Workspace, files: int) -> Figure:
    tracemalloc.start()
    search = FileSearch(workspace, PathIndex(workspace))
    await search.files("")
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    await search.aclose()
    return Figure(f"memory per file, {files:,} files".replace(",", " "), "B", single(used / files))


def make_tree(root: Path, files: int) -> None:
    """Write empty files into folders three levels deep, and rules that git ignores by."""
    folders = -(-files // FILES_PER_FOLDER)
    for number in range(folders):
        first, second = _WORDS[number % 10], _WORDS[number // 10 % 10]
        folder = root / f"{first}_{number // 500}" / second / f"part_{number}"
        folder.mkdir(parents=True)
        for at in range(min(FILES_PER_FOLDER, files - number * FILES_PER_FOLDER)):
            (folder / f"{_WORDS[at % 10]}_{number}_{at}{_ENDINGS[at % 6]}").touch()
    (root / ".gitignore").write_text("*.pyc\nbuild/\n/dist\n*.log\n.env\ncoverage/\n*.tmp\n")
