"""Starts the commands of the agent, which may be arbitrary programs.

A command runs below a small separate process (``guard.spawner``), which finds and ends all its
descendants, also when this server dies. Used by ``guard.process.spawner_pool``. See
docs/design/security.md#sandbox.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from jupyter_ai_shoulders.core.errors import PolicyRefusal
from jupyter_ai_shoulders.guard.process.port_rules import PortRules
from jupyter_ai_shoulders.guard.process.program import (
    Channel,
    EndReason,
    OutputChunk,
    Program,
    ProgramExit,
    not_started_error,
    program_request,
)
from jupyter_ai_shoulders.guard.spawner.main import SIZE_DIGITS
from jupyter_ai_shoulders.guard.spawner.process_tree import end_orphans
from jupyter_ai_shoulders.wire.base import JsonObject

OUTPUT_LIMIT = 2**30
"""A command that prints more bytes is ended."""
_CHUNK = 65_536
_FREE_BYTES = 8 * 2**20
_BYTES_PER_SECOND = 64 * 2**20
"""Read rate after the first ``_FREE_BYTES`` of output; the command blocks on its pipe."""
_READY_SECONDS = 30.0
_EXIT_WAIT_SECONDS = 1.5
"""Wait for the processes to exit, beyond the stop timeout; then survivors are ended from here."""
_POLL_SECONDS = 0.005
_START = (
    "import sys; sys.path.append(sys.argv[1]); "
    "from jupyter_ai_shoulders.guard.spawner.main import main; main()"
)


@dataclass(frozen=True, slots=True)
class ProgramStreams:
    """The standard streams of a connected command."""

    stdin: asyncio.StreamWriter
    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader


class Spawner:
    """A process that waits for one command to start; ``pid`` and ``start`` identify it in the log.

    Made by ``launch``, which blocks. Always call ``aclose``.
    """

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        outputs: Mapping[Channel, int],
        child_descriptors: JsonObject,
        rules: PortRules | None = None,
        input_end: int | None = None,
    ) -> None:
        self._process = process
        self._outputs: dict[Channel, int] = dict(outputs)
        self._child_descriptors = child_descriptors
        """Descriptor numbers of the write ends of the outputs in the new process."""
        self._input_end = input_end
        """Write end of the command's input; None without one."""
        self._rules = rules
        """Rules that the new process inherited under the same descriptor number; closed here."""
        self._replies: asyncio.StreamReader | None = None
        self._transports: list[asyncio.BaseTransport] = []
        self._running = False
        self._flooded = False
        self._chunks_read = 0
        self.pid = process.pid
        self.start: str | None = None

    @classmethod
    def launch(cls, rules: PortRules | None = None, *, with_input: bool = False) -> Spawner:
        """Start a spawner, with port rules if the command needs them; takes ownership of their
        descriptor.

        ``with_input``: the command's standard input is a pipe (see ``connect``), else empty.

        Raises ``PolicyRefusal`` when no process can be started.
        """
        if sys.platform == "win32":
            raise PolicyRefusal(
                "Commands cannot be run on Windows yet: they could not be ended reliably.",
                code="disabled",
                hint="Use the notebook and file tools, or ask the user to run it.",
            )
        (out, out_end), (err, err_end) = os.pipe(), os.pipe()
        ruled = () if rules is None else (rules.descriptor,)
        in_end, input_end = os.pipe() if with_input else (None, None)
        passed = [end for end in (out_end, err_end, in_end) if end is not None]
        try:
            process = subprocess.Popen(  # noqa: S603 this Python, with a program of ours
                [sys.executable, "-I", "-S", "-c", _START, str(Path(__file__).parents[3])],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                pass_fds=(*passed, *ruled),
                start_new_session=True,
                cwd="/",
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
            )
        except OSError as error:
            for descriptor in (out, err, *(() if input_end is None else (input_end,))):
                os.close(descriptor)
            raise PolicyRefusal(
                f"No process could be started ({error.strerror}).",
                code="disabled",
                hint="The machine may be out of memory or processes; try again later.",
            ) from error
        finally:
            for descriptor in (*passed, *ruled):
                os.close(descriptor)
        child_descriptors: JsonObject = {"stdout": out_end, "stderr": err_end, "stdin": in_end}
        return cls(process, {"stdout": out, "stderr": err}, child_descriptors, rules, input_end)

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self._process.poll() is None

    async def ready(self) -> None:
        """Wait until it accepts a request. Raises ``PolicyRefusal`` when it does not start."""
        if self._replies is not None:
            return
        self._replies = await self._reader(cast("IO[bytes]", self._process.stdout))
        try:
            async with asyncio.timeout(_READY_SECONDS):
                reply = await self._read_reply()
        except TimeoutError:
            reply = None
        if reply is None:
            raise PolicyRefusal(
                "The process that starts commands did not start.",
                code="disabled",
                hint=f"Try `{sys.executable} -I -S -c pass` in a terminal.",
            )
        self.start = cast("str | None", reply["start"])

    async def request(self, question: JsonObject) -> JsonObject | None:
        """Send the one request; return the first reply, or None when the process has died."""
        await self.ready()
        text = json.dumps({**question, **self._child_descriptors}).encode()
        await asyncio.to_thread(self._write, f"{len(text):0{SIZE_DIGITS}x}".encode() + text)
        return await self._read_reply()

    async def connect(self, program: Program, line_bytes: int) -> ProgramStreams:
        """Start the command and return its streams; ``aclose`` ends all its processes.

        ``line_bytes`` is the longest line that can be read from its output. The spawner was
        launched ``with_input``. Raises ``InvalidRequest`` when it cannot be started.
        """
        assert self._input_end is not None, "launched with_input"
        reply = await self.request(program_request(program, self._rules))
        if reply is None or "started" not in reply:
            raise not_started_error(program, reply)
        self._running = True
        pipes = [
            os.fdopen(self._outputs.pop(name), "rb", buffering=0) for name in ("stdout", "stderr")
        ]
        stdout = await self._reader(pipes[0], line_bytes)
        stderr = await self._reader(pipes[1])
        return ProgramStreams(await self._input(), stdout, stderr)

    async def exit(self) -> ProgramExit:
        """Return the exit of a connected command when it has ended; await it once only."""
        return await self._read_exit()

    async def run(self, program: Program) -> AsyncGenerator[OutputChunk | ProgramExit]:
        """Run the command; yield its output, then its exit. Closing or cancelling ends all its
        processes.

        Raises ``InvalidRequest`` when it cannot be started.
        """
        reply = await self.request(program_request(program, self._rules))
        if reply is None or "started" not in reply:
            raise not_started_error(program, reply)
        self._running = True
        queue: asyncio.Queue[OutputChunk | ProgramExit] = asyncio.Queue(maxsize=2)
        outputs = dict(self._outputs)
        self._outputs.clear()  # their readers close them
        pumps = [
            asyncio.create_task(self._pump(channel, descriptor, queue))
            for channel, descriptor in outputs.items()
        ]
        finishing = asyncio.create_task(self._finish(pumps, queue))
        count = 0
        try:
            while isinstance(item := await queue.get(), OutputChunk):
                count += len(item.data)
                if count <= OUTPUT_LIMIT:
                    yield item
                elif not self._flooded:
                    self._flooded = True
                    await asyncio.to_thread(self._write, b"stop\n")
        finally:
            for task in (*pumps, finishing):
                task.cancel()
            await self._shut_down(program.stop_timeout_s)
        yield item

    async def aclose(self) -> None:
        """End the processes and release the descriptors."""
        await self._shut_down(0.0)

    async def _pump(
        self, channel: Channel, descriptor: int, queue: asyncio.Queue[OutputChunk | ProgramExit]
    ) -> None:
        """Read output no faster than it is consumed, and rate-limited after a while."""
        reader = await self._reader(os.fdopen(descriptor, "rb", buffering=0))
        count = 0
        while data := await reader.read(_CHUNK):
            await queue.put(OutputChunk(channel, data))
            self._chunks_read += 1
            count += len(data)
            if count > _FREE_BYTES:
                await asyncio.sleep(len(data) / _BYTES_PER_SECOND)

    async def _finish(
        self, pumps: Sequence[asyncio.Task[None]], queue: asyncio.Queue[OutputChunk | ProgramExit]
    ) -> None:
        """Queue the exit after all output was read.

        The pipes close when all holders have exited, unless a descriptor was passed to another
        process.
        """
        ended = await self._read_exit()
        chunks_read = -1
        while not all(pump.done() for pump in pumps) and (
            queue.full() or chunks_read != self._chunks_read
        ):
            chunks_read = self._chunks_read
            await asyncio.wait(pumps, timeout=_EXIT_WAIT_SECONDS)
        await queue.put(ended)

    async def _read_exit(self) -> ProgramExit:
        reply = await self._read_reply()
        self._running = False
        over: EndReason | None = "output" if self._flooded else None
        if reply is None:
            await asyncio.to_thread(end_orphans, self.pid, self.start)
            return ProgramExit(None, over or "lost")
        return ProgramExit(
            code=cast("int | None", reply["ended"]),
            reason=over or cast("EndReason | None", reply["why"]),
            orphans=cast("int", reply["left_behind"]),
            stuck=cast("int", reply["stuck"]),
        )

    async def _shut_down(self, stop_timeout_s: float) -> None:
        """End all processes and release the descriptors; closing stdin alone makes the spawner end
        them.
        """
        try:
            if self._running:
                await asyncio.to_thread(self._write, b"stop\n")
                await self._wait_for_exit(stop_timeout_s + _EXIT_WAIT_SECONDS)
            self._close_stdin()
            if self.start is None:  # no command was started, so there is nothing to end first
                self._process.kill()
            if not await self._wait_for_exit(_EXIT_WAIT_SECONDS):
                await asyncio.to_thread(end_orphans, self.pid, self.start)
        finally:
            self._close_stdin()
            for transport in self._transports:
                transport.close()
            if self._replies is None:  # no reader owns the pipe
                cast("IO[bytes]", self._process.stdout).close()
            for descriptor in self._outputs.values():
                os.close(descriptor)
            self._outputs.clear()
            if self._input_end is not None:
                os.close(self._input_end)
                self._input_end = None
            self._process.poll()

    def _close_stdin(self) -> None:
        with contextlib.suppress(OSError):
            cast("IO[bytes]", self._process.stdin).close()

    async def _wait_for_exit(self, timeout_s: float) -> bool:
        """Return whether the process exits within the timeout."""
        deadline = asyncio.get_running_loop().time() + timeout_s
        while self._process.poll() is None:
            if asyncio.get_running_loop().time() >= deadline:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    async def _read_reply(self) -> JsonObject | None:
        assert self._replies is not None
        try:
            line = await self._replies.readline()
        except ConnectionError:
            return None
        return cast("JsonObject", json.loads(line)) if line.endswith(b"\n") else None

    async def _reader(self, pipe: IO[bytes], limit: int = _CHUNK) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(limit=limit)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        self._transports.append(transport)
        return reader

    async def _input(self) -> asyncio.StreamWriter:
        """Return a writer of the command's input; it owns the pipe from now on."""
        assert self._input_end is not None
        pipe, self._input_end = os.fdopen(self._input_end, "wb", buffering=0), None
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader()
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        self._transports.append(transport)
        return asyncio.StreamWriter(transport, protocol, reader, loop)

    def _write(self, data: bytes) -> None:
        """Write to stdin; ignored when the process is gone."""
        pipe = cast("IO[bytes]", self._process.stdin)
        with contextlib.suppress(OSError, ValueError):
            pipe.write(data)
            pipe.flush()
