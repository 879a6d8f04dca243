"""The channels to a local kernel, with our own sockets in place of the kernel."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import zmq
import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.session import Session

from jupyter_ai_shoulders.notebook.kernel_channels import Frames, ZmqChannels


async def test_channels_wait_for_a_kernel_that_opens_stdin_last():
    context = zmq.asyncio.Context()
    session = Session(key=b"")
    with context.socket(zmq.ROUTER) as asking:
        port = asking.bind_to_random_port("tcp://127.0.0.1")
        asking.unbind(f"tcp://127.0.0.1:{port}")
        client = AsyncKernelClient(context=context, session=session, stdin_port=port)
        channels = ZmqChannels(SimpleNamespace(ready=None), client)
        heard: asyncio.Queue[Frames] = asyncio.Queue()
        channels.open({"stdin": heard.put_nowait})
        opened = asyncio.create_task(channels.opened())
        await asyncio.wait([opened], timeout=0.3)
        assert not opened.done()

        asking.bind(f"tcp://127.0.0.1:{port}")
        async with asyncio.timeout(20):
            await opened
            message = session.msg("input_request", {"prompt": "Name? ", "password": False})
            asking.router_mandatory = 1  # raises for an unknown peer
            await asking.send_multipart([session.bsession, *session.serialize(message)])
            assert b"Name? " in (await heard.get())[4]
        await channels.close()
    context.term()
