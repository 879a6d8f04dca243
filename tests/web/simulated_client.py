"""A client of the simulated services whose time passes only while somebody sleeps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from jupyter_ai_shoulders.core.web_services import KEY_VARIABLES
from jupyter_ai_shoulders.guard.network.fetch import FetchLimits
from jupyter_ai_shoulders.guard.network.http_service_client import (
    HttpServiceClient,
    ServiceAddress,
    ServiceSettings,
)
from tests.simulator.services import ServiceSimulator
from tests.simulator.services.answers import KEY

ALL_KEYS = dict.fromkeys(KEY_VARIABLES, KEY)


@dataclass(slots=True)
class SteppedClock:
    """Time that passes only while somebody sleeps."""

    seconds: float = 0.0
    slept: list[float] = field(default_factory=list[float])

    def now(self) -> datetime:
        return datetime(2026, 3, 2, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.slept.append(round(seconds, 3))
        self.seconds += seconds


def client_of(
    simulator: ServiceSimulator,
    keys: Mapping[str, str] | None = None,
    clock: SteppedClock | None = None,
) -> HttpServiceClient:
    """Return a client of the simulator; ``keys`` by variable, None for all."""
    clock = clock or SteppedClock()
    given = ALL_KEYS if keys is None else keys
    settings = ServiceSettings(
        address=lambda service: ServiceAddress(simulator.url(service), configured=True),
        key=given.get,
    )
    return HttpServiceClient(
        settings,
        clock=clock,
        sleep=clock.sleep,
        proxy=lambda _: None,
        limits=FetchLimits(size=1 << 20, seconds=1.0),
    )
