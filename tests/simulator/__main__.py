"""Runs the simulator as a process: ``python -m tests.simulator --port 8765``.

For browser tests, the benchmark and manual tests of a configuration. Prints its URL once it
listens. ``--script`` takes a ``ScriptFile``; ``control_api`` lists the routes that change it later.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from tests.simulator.script import Script, ScriptFile
from tests.simulator.server import DEFAULT_KEY, Simulator


def arguments() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description="Simulate model providers on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--key", default=DEFAULT_KEY, help="the API key to accept")
    parser.add_argument("--script", type=Path, help="JSON file with replies, rules and a default")
    return parser.parse_args()


async def serve(port: int, key: str, script: Script) -> None:
    """Listen until the process is stopped."""
    async with Simulator(port=port, key=key) as simulator:
        simulator.playing = script
        sys.stdout.write(f"Simulator listening on {simulator.url}\n")
        sys.stdout.flush()
        await asyncio.Event().wait()


def main() -> None:
    """Run until interrupted."""
    given = arguments()
    script = Script()
    if given.script is not None:
        script = Script.from_file(ScriptFile.model_validate_json(given.script.read_bytes()))
    try:
        asyncio.run(serve(given.port, given.key, script))
    except KeyboardInterrupt:
        sys.stdout.write("Simulator stopped\n")


if __name__ == "__main__":
    main()
