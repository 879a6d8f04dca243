"""Runs the services as a process: ``python -m tests.simulator.services``.

Prints a value of ``Shoulders.services`` as JSON once it listens; ``--port 0`` takes a free port.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys

from tests.simulator.services.server import ServiceSimulator


async def serve(port: int) -> None:
    """Listen until the process is stopped."""
    async with ServiceSimulator(port=port) as simulator:
        sys.stdout.write(json.dumps(simulator.trait) + "\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Simulate web services on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=0)
    asyncio.run(serve(parser.parse_args().port))
