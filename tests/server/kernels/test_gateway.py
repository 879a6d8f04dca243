"""Kernels behind a gateway: a second Jupyter server in its own process, reached by TCP."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.session import Session
from jupyter_server.gateway.gateway_client import GatewayClient
from jupyter_server.serverapp import ServerApp
from tornado.websocket import websocket_connect
from traitlets.config import Config

from jupyter_ai_shoulders.core.errors import NotFound
from jupyter_ai_shoulders.server.kernels.gateway import V1, GatewayTimeouts, decode, encode
from jupyter_ai_shoulders.server.kernels.kernel_directory import ServerKernels
from tests.notebook.kernels.real_kernel import PATH, bench

TOKEN = "of-the-gateway"
SLOW = """
import pathlib, time
print("begun", flush=True)
while not pathlib.Path({flag!r}).exists(): time.sleep(0.05)
print("done", flush=True)
"""


class GatewayRelay:
    """A TCP relay to the gateway that can be cut and restored."""

    def __init__(self, gateway: int) -> None:
        self._gateway = gateway
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._writers: list[asyncio.StreamWriter] = []
        self._pumps: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self.is_cut = False
        self.sockets = 0

    async def open(self) -> None:
        self._server = await asyncio.start_server(self._serve, sock=self._listening)

    def cut(self) -> None:
        """Close open connections and refuse new ones."""
        self.is_cut = True
        for writer in self._writers:
            writer.transport.abort()

    async def close(self) -> None:
        self.cut()
        assert self._server is not None
        self._server.close()
        if self._pumps:
            await asyncio.wait(self._pumps)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        if self.is_cut:
            writer.transport.abort()
            return
        there, back = await asyncio.open_connection("127.0.0.1", self._gateway)
        self._writers.append(back)
        for source, target in ((reader, back), (there, writer)):
            pump = asyncio.create_task(self._pump(source, target))
            self._pumps.add(pump)
            pump.add_done_callback(self._pumps.discard)

    async def _pump(self, source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65_536):
                self.sockets += b"/channels" in data and b"Upgrade" in data
                target.write(data)
                await target.drain()
        except ConnectionError:
            pass  # cut
        finally:
            target.close()


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    folder = tmp_path_factory.mktemp("gateway")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
    unneeded = ("jupyter_ai_shoulders", "jupyterlab", "jupyter_lsp", "notebook_shim")
    settings = {"jpserver_extensions": dict.fromkeys(unneeded, False)}
    (folder / "jupyter_server_config.json").write_text(json.dumps({"ServerApp": settings}))
    homes = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    command = [
        *(sys.executable, "-m", "jupyter_server", "--allow-root", "--no-browser"),
        *(f"--port={port}", "--port-retries=0", f"--IdentityProvider.token={TOKEN}"),
        *("--KernelRestarter.time_to_dead=0.3", f"--ServerApp.root_dir={folder}"),
    ]
    environment = {**os.environ, **dict.fromkeys(homes, str(folder))}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = list(takewhile(lambda line: "is running at" not in line, process.stderr))
        assert process.poll() is None, "".join(said)
        drain = threading.Thread(target=process.stderr.read)
        drain.start()
        yield port
        process.terminate()
        drain.join()


@pytest.fixture
def line(gateway: int, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[GatewayRelay]:
    line = GatewayRelay(gateway)
    jp_asyncio_loop.run_until_complete(line.open())
    yield line
    jp_asyncio_loop.run_until_complete(line.close())


@pytest.fixture
def jp_server_config(line: GatewayRelay) -> Iterator[Config]:
    GatewayClient.clear_instance()
    yield Config({"GatewayClient": {"url": f"http://127.0.0.1:{line.port}", "auth_token": TOKEN}})
    GatewayClient.clear_instance()


@pytest.fixture
def kernels(jp_serverapp: ServerApp, jp_asyncio_loop: asyncio.AbstractEventLoop) -> Iterator[Any]:
    manager: Any = jp_serverapp.kernel_manager
    assert type(manager).__name__ == "GatewayMappingKernelManager"
    times = GatewayTimeouts(ping=0.3, poll=0.3, retry=0.05)
    yield ServerKernels(jp_serverapp.session_manager, manager, gateway=times)
    jp_asyncio_loop.run_until_complete(manager.shutdown_all())


async def test_cells_run_behind_a_gateway(kernels: ServerKernels):
    async with bench(kernels, "print('far'); 6 * 7", "undefined", "import sys; sys.platform") as at:
        run = await at.run("a")
        assert (run.status, run.failure, run.warning) == ("ok", None, None)
        assert run.outputs[0]["text"] == "far\n"
        assert run.outputs[1]["data"] == {"text/plain": "42"}
        failed = await at.run("b")
        assert failed.failure == "NameError: name 'undefined' is not defined"
        assert (await at.run("c")).status == "ok"
        handle = await kernels.find(PATH)
        assert handle is not None
        assert (handle.kernel_name, handle.language) == ("python3", "python")
        assert handle.kernel_id == run.kernel_id


async def test_a_kernel_behind_a_gateway_is_interrupted(kernels: ServerKernels):
    async with bench(kernels, "print('begun', flush=True)\nimport time; time.sleep(60)") as at:
        task = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        task.cancel()
        async with asyncio.timeout(30):
            with pytest.raises(asyncio.CancelledError):
                await task
        outputs = at.notebook.cell("a").outputs
        assert outputs is not None
        assert outputs[-1]["ename"] == "KeyboardInterrupt"


async def test_a_quiet_while_does_not_end_the_connection(
    kernels: ServerKernels, line: GatewayRelay, tmp_path: Path
):
    """Several pings long, without a message: the stock client's socket would have timed out."""
    flag = tmp_path / "flag"
    async with bench(kernels, SLOW.format(flag=str(flag))) as at:
        task = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        await asyncio.to_thread(_wait_for_pings, 10, 0.3)
        flag.touch()
        run = await task
        assert (run.status, run.outputs[0]["text"]) == ("ok", "begun\ndone\n")
        assert line.sockets == 1


def _wait_for_pings(count: int, seconds: float) -> None:
    with socket.socket() as nothing:
        nothing.bind(("127.0.0.1", 0))
        nothing.listen()
        nothing.settimeout(count * seconds)
        with pytest.raises(TimeoutError):
            nothing.accept()


async def test_a_socket_cut_in_the_middle_is_opened_again_and_nothing_is_lost(
    kernels: ServerKernels, line: GatewayRelay, tmp_path: Path
):
    flag = tmp_path / "flag"
    async with bench(kernels, SLOW.format(flag=str(flag)), "'next'") as at:
        task = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        line.cut()
        flag.touch()
        line.is_cut = False
        run = await task
        assert run.status == "ok"
        assert "".join(str(output["text"]) for output in run.outputs) == "begun\ndone\n"
        assert (await at.run("b")).outputs[0]["data"] == {"text/plain": "'next'"}
        assert line.sockets == 2


async def test_a_reply_that_went_to_nobody_ends_the_run_with_a_remark(
    kernels: ServerKernels, line: GatewayRelay, gateway: int, tmp_path: Path
):
    """The gateway buffers no messages for us while another page listens."""
    flag = tmp_path / "flag"
    async with bench(kernels, SLOW.format(flag=str(flag)), "'next'") as at:
        task = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        kernel_id = await at.runner.kernel_of(PATH)
        url = f"ws://127.0.0.1:{gateway}/api/kernels/{kernel_id}/channels?token={TOKEN}"
        other: Any = await websocket_connect(url)
        await _subscribed(other)
        line.cut()
        flag.touch()
        while '"idle"' not in (message := await other.read_message()) or "execute" not in message:
            pass
        line.is_cut = False
        run = await task
        assert run.status == "ok"
        texts = [str(output["text"]) for output in run.outputs]
        assert texts[0] == "begun\n"
        assert "was cut while this ran" in texts[-1]
        assert (await at.run("b")).outputs[0]["data"] == {"text/plain": "'next'"}
        other.close()
        await other.read_message()


async def _subscribed(page: Any) -> None:
    """Wait until a page's socket gets what the kernel publishes.

    The gateway subscribes after the handshake, and what was published before is lost. A kernel that
    runs a cell answers requests on the control channel and publishes its status for each.
    """
    session = Session(key=b"")

    async def ask() -> None:
        while True:
            request = {**session.msg("kernel_info_request"), "channel": "control"}
            await page.write_message(json.dumps(request, default=str))
            await asyncio.sleep(0.2)

    asking = asyncio.create_task(ask())
    while json.loads(await page.read_message())["channel"] != "iopub":
        pass
    asking.cancel()


async def test_a_kernel_that_dies_behind_the_gateway_ends_the_run(kernels: ServerKernels):
    dying = "print('last', flush=True)\nimport os, time; time.sleep(0.3); os._exit(1)"
    async with bench(kernels, "kept = 1", dying, "'kept' in dir()") as at:
        assert (await at.run("a")).status == "ok"
        run = await at.run("b")
        assert (run.status, run.failure) == ("died", "the kernel died")
        assert run.outputs[0]["text"] == "last\n"
        after = await at.run("c")
        assert after.outputs[0]["data"] == {"text/plain": "False"}


async def test_a_kernel_the_gateway_shut_down_ends_the_run(kernels: ServerKernels, gateway: int):
    async with bench(kernels, "print('begun', flush=True)\nimport time; time.sleep(60)") as at:
        task = asyncio.create_task(at.run("a"))
        await at.reported("stdout")
        handle = await kernels.find(PATH)
        assert handle is not None
        url = f"http://127.0.0.1:{gateway}/api/kernels/{handle.kernel_id}?token={TOKEN}"
        delete = urllib.request.Request(url, method="DELETE")
        with await asyncio.to_thread(urllib.request.urlopen, delete) as answer:
            assert answer.status == 204
        async with asyncio.timeout(30):
            run = await task
        assert (run.status, run.outputs[0]["text"]) == ("died", "begun\n")


async def test_a_kernelspec_the_gateway_lacks_is_named_with_its_own(kernels: ServerKernels):
    with pytest.raises(NotFound, match="'cobol'") as missing:
        await kernels.start(PATH, "cobol")
    assert "python3" in (missing.value.info.hint or "")


@pytest.mark.parametrize("protocol", [V1, None], ids=["v1", "json"])
def test_messages_survive_both_formats(protocol: str | None):
    session = Session(key=b"")
    message = session.msg("execute_request", {"code": "ä</script>"})
    sent = encode(message, "shell", session, protocol)
    received = sent if protocol == V1 else sent.decode()
    channel, frames = decode(received, session, protocol)
    read: Any = session.deserialize(frames)
    assert channel == "shell"
    assert read["content"] == {"code": "ä</script>"}
    assert read["header"]["msg_id"] == message["header"]["msg_id"]
