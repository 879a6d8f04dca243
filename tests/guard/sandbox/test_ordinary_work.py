"""Ordinary work succeeds in a sandboxed command with private mounts."""

from __future__ import annotations

import asyncio
import os
import shutil
from pathlib import Path
from zipfile import ZipFile

import pytest

from jupyter_ai_shoulders.guard.process.spawner_pool import SpawnerPool
from jupyter_ai_shoulders.guard.sandbox.capabilities import SandboxCapabilities, detect_capabilities
from jupyter_ai_shoulders.guard.sandbox.protected_paths import SandboxLocations
from jupyter_ai_shoulders.guard.sandbox.sandbox import Sandbox
from jupyter_ai_shoulders.guard.sandbox.sandbox_policy import SandboxRequest
from tests.guard.command_runner import CommandResult, program, run_command

POOL = """
import multiprocessing as m
from multiprocessing import shared_memory
def f(x): return x * x
if __name__ == "__main__":
    for kind in ("spawn", "fork"):
        with m.get_context(kind).Pool(2) as pool: assert pool.map(f, [1, 2, 3]) == [1, 4, 9]
    shared = shared_memory.SharedMemory(create=True, size=10)
    shared.buf[0] = 1; shared.close(); shared.unlink()
"""
THREADS = """
#include <omp.h>
int main() { int n = 0;
#pragma omp parallel reduction(+:n)
  n += 1;
  return n != 2; }
"""
WORK = {
    "shell": "set -o pipefail; seq 100 | sort -rn | head -3 | tee out | wc -l; cat <(echo sub)",
    "processes": "python3 pool.py",
    "queues of the system": "ipcmk -Q && ipcs -q | grep -q 0x && ipcrm --all",
    "databases": 'python3 -c \'import sqlite3 as s; c = s.connect("x.db"); '
    'c.execute("pragma journal_mode=wal"); c.execute("create table a(b)"); c.commit()\'',
    "permissions": "echo 'echo ran' > s; chmod +x s; ./s; chmod 2775 .; chmod 600 s; "
    "install -m 644 s t; chown $(id -u) s",
    "times": "touch -d 2001-01-01 a; cp -p a b; cp -a a c; test $(stat -c %Y a) = $(stat -c %Y c)",
    "attributes": 'python3 -c \'import os; os.setxattr("inside", "user.x", b"1")\' || true',
    "archives": "mkdir d; echo 1 > d/a; chmod 750 d/a; touch -d 2001-01-01 d/a; tar cf d.tar d; "
    "rm -r d; tar xpf d.tar; test $(stat -c %a d/a) = 750",
    "git": "git init -q r; cd r; git config user.name a; git config user.email a@example.com; "
    "echo x > f; git add .; git commit -qm x; git clone -q . ../r2; git gc -q",
    "environments": "python3 -m venv --without-pip v; v/bin/python -c 'import json'",
    "installation": "python3 -m pip install -q --no-index --no-deps --disable-pip-version-check "
    "--target there ./pure-1-py3-none-any.whl; test -e there/pure.py",
    "make": "printf 'all: a\\na:\\n\\ttouch a\\n' > Makefile; make -s -j2; make -q",
    "limits": "timeout 0.1 sleep 5 || test $? = 124; nice -n 5 true; ionice -c 3 true; "
    "taskset -c $(taskset -cp $$ | grep -o '[0-9]*$') true; ulimit -n 100; "
    "prlimit --nofile=50 true",
    "threads": "gcc -fopenmp threads.c -o threads; OMP_NUM_THREADS=2 ./threads; "
    "OMP_NUM_THREADS=2 OMP_PROC_BIND=true ./threads",
    "numpy": "python3 -c 'import numpy as n; a = n.ones((300, 300)); assert (a @ a)[0, 0] == 300'",
    "terminals": "python3 -c 'import pty; pty.spawn([\"true\"])'",
    "following": "echo a > l; timeout 0.2 tail -f l 2>/dev/null || test $? = 124",
    "node": 'node -e \'require("child_process").execSync("true")\'; npm --version',
    "tracing": "strace -f -o trace true; grep -q exec trace",
    "rename between folders": "echo x > ~/a; mv ~/a $TMPDIR/a; mv $TMPDIR/a .; rm a",
}
NEEDED = {
    "queues of the system": "ipcmk",
    "git": "git",
    "make": "make",
    "threads": "gcc",
    "node": "npm",
    "tracing": "strace",
    "limits": "ionice",
}


@pytest.fixture(scope="module")
def capabilities() -> SandboxCapabilities:
    return asyncio.run(detect_capabilities(SpawnerPool()))


async def worked(folder: Path, capabilities: SandboxCapabilities, line: str) -> CommandResult:
    environ = {"PATH": os.environ["PATH"]}
    locations = SandboxLocations(folder, folder / ".shoulders", folder.parent / "home", environ)

    async def detected() -> SandboxCapabilities:
        return capabilities

    asked = program(f"set -e; {line}", folder, environment=environ)
    with Sandbox(locations, detected).confined(asked, capabilities, SandboxRequest()) as confined:
        return await run_command(confined)


@pytest.mark.parametrize("name", WORK)
async def test_it_works_inside(
    tmp_path: Path, capabilities: SandboxCapabilities, name: str
) -> None:
    """If a program is missing, the command's output says so."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    (folder / "inside").touch()
    (folder / "pool.py").write_text(POOL)
    (folder / "threads.c").write_text(THREADS)
    make_wheel(folder / "pure-1-py3-none-any.whl")
    if not capabilities.covers:
        assert capabilities.kind == "none" or "cannot change permissions" in capabilities.detail
        return

    done = await worked(folder, capabilities, WORK[name])

    needed = NEEDED.get(name)
    if needed is not None and shutil.which(needed) is None:
        assert "not found" in done.all
        return
    assert done.ended.code == 0, done.all


async def test_nothing_open_is_inherited(tmp_path: Path, capabilities: SandboxCapabilities) -> None:
    if capabilities.kind == "none":
        assert not capabilities.covers
        return

    line = "for n in $(seq 3 200); do test ! -e /proc/$$/fd/$n || echo $n; done"
    done = await worked(tmp_path, capabilities, line)

    assert done.out == ""


async def test_memory_of_the_system_is_told_apart(
    tmp_path: Path, capabilities: SandboxCapabilities
) -> None:
    """Shared memory of other processes is not listed."""
    if not capabilities.covers:
        assert capabilities.kind == "none" or "cannot be hidden" in capabilities.detail
        return

    done = await worked(tmp_path, capabilities, "wc -l < /proc/sysvipc/shm; ls -A /dev/shm | wc -l")

    assert done.out.split() == ["1", "0"]


def make_wheel(path: Path) -> None:
    about = "pure-1.dist-info"
    with ZipFile(path, "w") as wheel:
        wheel.writestr("pure.py", "")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: pure\nVersion: 1\n")
        tags = "Root-Is-Purelib: true\nTag: py3-none-any\n"
        wheel.writestr(f"{about}/WHEEL", f"Wheel-Version: 1.0\nGenerator: test\n{tags}")
        wheel.writestr(f"{about}/RECORD", f"pure.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n")
