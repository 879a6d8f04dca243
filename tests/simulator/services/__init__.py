"""Simulators of the public web services: papers, registers of publications, web search.

One server plays all; each service has a path of its own, so that ``Shoulders.services`` can lead
there::

    async with ServiceSimulator() as simulator:
        trait = simulator.trait
        simulator.fail("openalex", "busy", times=2)
"""

from tests.simulator.services.server import ServiceSimulator

__all__ = ["ServiceSimulator"]
