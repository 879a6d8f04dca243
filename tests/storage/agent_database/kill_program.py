"""Changes the agent's database, or settles it, in a server that is killed at a point.

Run by ``test_changes`` with the point in the environment.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tests.storage.agent_database.conftest import opened


async def main(root: Path, action: str) -> None:
    async with opened(root) as place:
        if action == "settle":
            await place.service.settle()
        else:
            await place.execute("UPDATE t SET b = 'z'", number=3)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
