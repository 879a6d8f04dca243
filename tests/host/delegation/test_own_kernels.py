"""Throw-away kernels of sub-agents, with real kernels: variables stay, the user's are untouched."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.notebook.kernels.local_kernels import LocalKernels
from jupyter_ai_shoulders.testing.scripted_provider import Call, turn
from jupyter_ai_shoulders.wire import events as ev
from jupyter_ai_shoulders.wire.api.commands import AnswerApproval
from jupyter_ai_shoulders.wire.parts import TextPart
from tests.host.delegation.delegating_host import (
    PARENT,
    Delegating,
    Scripts,
    delegating,
    delegating_host,
)

NOTEBOOK: dict[str, Any] = {
    "cells": [],
    "metadata": {"kernelspec": {"name": "python3", "display_name": "Python 3"}},
    "nbformat": 4,
    "nbformat_minor": 5,
}
SLEEP = "import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(99)"
TASK = "Try three fits of the data."


def run(code: str, call_id: str) -> Call:
    return Call("run_in_own_kernel", {"path": "fit.ipynb", "code": code}, call_id)


def told(result: ev.ToolResult) -> str:
    return " ".join(part.text for part in result.content if isinstance(part, TextPart))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def allow(at: Delegating) -> None:
    """Allow what the sub-agent asks: its outputs are not the person's words."""
    for child in at.children():
        answered = {each.call_id for each in at.events(ev.ApprovalAnswer, child)}
        for asked in at.events(ev.ApprovalRequest, child):
            if asked.call_id not in answered:
                once = AnswerApproval(decision="allow", scope="once")
                await at.host.engine.responses.answer_approval(child.id, asked.call_id, once)


async def ended(pid: int) -> bool:
    """Return whether a process ends soon."""
    for _ in range(100):
        if not is_alive(pid):
            return True
        await asyncio.sleep(0.05)
    return False


async def test_its_variables_stay_and_end_with_it(tmp_path: Path) -> None:
    script: Scripts = {
        PARENT: [turn(delegating(TASK, toolset="notebook")), "Done."],
        TASK: [
            turn(run("import os\nfits = []\nprint('pid', os.getpid())", "k1")),
            turn(run("fits.append(1)\nprint('fits', fits)", "k2")),
            turn(run(f"import os, signal\nos.kill(os.getpid(), {signal.SIGKILL})", "k3")),
            turn(run("print('fits' in globals())", "k4")),
            "The first fits best [fit.ipynb].",
        ],
    }
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "fit.ipynb").write_text(json.dumps(NOTEBOOK))
    kernels = LocalKernels(tmp_path / "workspace")
    try:
        async with delegating_host(tmp_path, script, mode="bypass", kernels=kernels) as at:
            await at.begin()
            async with asyncio.timeout(60):
                while at.host.engine.is_running(at.parent.id):
                    await allow(at)
                    await asyncio.sleep(0.05)

            (child,) = at.children()
            found = [told(each) for each in at.events(ev.ToolResult, child)]
            pid = int(found[0].split("pid ")[1].split()[0])
            assert "fits [1]" in found[1]
            assert "died" in found[2]
            assert "False" in found[3]  # another kernel, in place of the one that died
            assert at.result().status == "ok"
            assert await ended(pid)
            assert at.host.services.documents.own_kernels.count == 0
    finally:
        await kernels.aclose()


async def test_cancelling_ends_the_kernel_with_what_it_runs(tmp_path: Path) -> None:
    script: Scripts = {
        PARENT: [turn(delegating(TASK, toolset="notebook")), "Done."],
        TASK: [turn(run(SLEEP, "k1"))],
    }
    root = tmp_path / "workspace"
    root.mkdir()
    (root / "fit.ipynb").write_text(json.dumps(NOTEBOOK))
    kernels = LocalKernels(root)
    try:
        async with delegating_host(tmp_path, script, mode="bypass", kernels=kernels) as at:
            await at.begin()
            async with asyncio.timeout(30):
                while not (root / "pid").exists() or not (root / "pid").read_text():  # noqa: ASYNC110
                    await asyncio.sleep(0.05)
            pid = int((root / "pid").read_text())
            await at.host.engine.cancel(at.parent.id)
            await at.host.engine.settled(at.parent.id)

            assert await ended(pid)
            assert at.result().status == "cancelled"
    finally:
        await kernels.aclose()
