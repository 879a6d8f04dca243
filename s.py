import asyncio
from tests.simulator.server import Simulator
from tests.simulator.script import *
async def main():
    async with Simulator() as s:
        s.default(reply('x'))
        p=await asyncio.create_subprocess_exec('node','t.mjs',s.url); await p.wait()
asyncio.run(main())
