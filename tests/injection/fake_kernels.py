"""Kernels that need no process: they answer every question with what they were given."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

from jupyter_client.session import Session

from jupyter_ai_shoulders.notebook.base import KernelHandle, KernelSpec, RunningKernel
from jupyter_ai_shoulders.notebook.kernel_channels import Channel, Message, Receive

FAILS = "fails: "
SPEC = KernelSpec("python3", "Python 3", "python")


class FakeChannels:
    """``KernelChannels``: each run prints ``printed``, each look finds ``variables``.

    What begins with ``FAILS`` is the message of the error that each run ends with.
    """

    def __init__(self, printed: str, variables: Mapping[str, object]) -> None:
        self.session = Session(key=b"key")
        self.ended = False
        self._printed = printed
        self._variables = json.dumps(variables)
        self._receivers: Mapping[Channel, Receive] = {}

    def open(self, receivers: Mapping[Channel, Receive]) -> None:
        """See ``KernelChannels.open``."""
        self._receivers = receivers

    def send(self, message: Message, channel: Channel) -> None:
        """Answer a request; see ``KernelChannels.send``."""
        del channel
        if message["header"]["msg_type"] != "execute_request":
            self._give("iopub", "status", {"execution_state": "idle"}, message)
            return
        self._give("iopub", "status", {"execution_state": "busy"}, message)
        silent = bool(message["content"]["silent"])
        outcome: Message = {"status": "ok"} if silent else self._print(message)
        found = {"status": "ok", "data": {"text/plain": repr(self._variables)}, "metadata": {}}
        expressions = dict.fromkeys(message["content"]["user_expressions"], found)
        reply = {**outcome, "execution_count": 1, "user_expressions": expressions}
        self._give("shell", "execute_reply", reply, message)
        self._give("iopub", "status", {"execution_state": "idle"}, message)

    def _print(self, message: Message) -> Message:
        """Give the output of a run; return what its reply says."""
        if not self._printed.startswith(FAILS):
            self._give("iopub", "stream", {"name": "stdout", "text": self._printed}, message)
            return {"status": "ok"}
        failed = self._printed.removeprefix(FAILS)
        error = {"ename": "Error", "evalue": failed, "traceback": [failed]}
        self._give("iopub", "error", error, message)
        return {"status": "error", **error}

    async def opened(self) -> None:
        """See ``KernelChannels.opened``."""

    async def is_alive(self) -> bool:
        """See ``KernelChannels.is_alive``."""
        return True

    async def close(self) -> None:
        """See ``KernelChannels.close``."""
        self.ended = True

    def _give(self, channel: Channel, kind: str, content: Message, parent: Message) -> None:
        message = self.session.msg(kind, content, parent=parent)
        frames = self.session.serialize(message)[1:]
        asyncio.get_running_loop().call_soon(self._receivers[channel], frames)


class FakeKernels:
    """``KernelDirectory``: a kernel for each notebook, running from the start where given."""

    def __init__(self, printed: Mapping[str, str], variables: Mapping[str, object]) -> None:
        """``variables`` and what is ``printed`` are by notebook."""
        self._printed = printed
        self._variables = variables
        self._handles = {path: self._made(path) for path in variables}

    async def find(self, path: str) -> KernelHandle | None:
        """See ``KernelDirectory.find``."""
        return self._handles.get(path)

    async def start(self, path: str, kernel_name: str | None) -> KernelHandle:
        """See ``KernelDirectory.start``."""
        return self._handles.setdefault(path, self._made(path))

    async def spec(self, name: str | None) -> KernelSpec:
        """See ``KernelSpecs.spec``."""
        return SPEC

    async def interrupt(self, kernel_id: str) -> None:
        """See ``KernelDirectory.interrupt``."""

    async def restart(self, kernel_id: str) -> None:
        """See ``KernelDirectory.restart``."""

    async def running(self) -> Sequence[RunningKernel]:
        """See ``KernelDirectory.running``."""
        return [
            RunningKernel(handle.kernel_id, SPEC.name, SPEC.language, path, "idle", None)
            for path, handle in self._handles.items()
        ]

    async def installed(self) -> Sequence[KernelSpec]:
        """See ``KernelDirectory.installed``."""
        return [SPEC]

    @asynccontextmanager
    async def throwaway(self, path: str, kernel_name: str | None) -> AsyncGenerator[KernelHandle]:
        """See ``KernelDirectory.throwaway``."""
        yield self._made(path)

    def _made(self, path: str) -> KernelHandle:
        async def is_alive() -> bool:
            return True

        nothing: Mapping[str, object] = {"variables": [], "total": 0}
        printed, variables = self._printed.get(path, ""), self._variables.get(path, nothing)
        manager = SimpleNamespace(execution_state="idle", ready=object(), is_alive=is_alive)
        return KernelHandle(
            kernel_id=f"kernel of {path}",
            kernel_name=SPEC.name,
            language=SPEC.language,
            manager=manager,
            client=lambda: cast("Any", None),
            channels=lambda: FakeChannels(printed, cast("Mapping[str, object]", variables)),
        )
