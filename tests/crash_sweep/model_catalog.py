"""The catalogue of the killed servers: one priced model of the simulator."""

from __future__ import annotations

from typing import Any

from tests.simulator_process import MODEL


def models_file(url: str) -> dict[str, Any]:
    """Return the content of ``models.json``."""
    return {
        "default": "simulated",
        "providers": {
            "simulator": {"kind": "anthropic", "url": url, "api_key_env": "SIMULATOR_KEY"}
        },
        "models": [
            {
                "id": "simulated",
                "name": "Simulated",
                "provider": "simulator",
                "model": MODEL,
                "context_window": 200_000,
                "prices": {"input": 1_000_000, "output": 5_000_000},
            }
        ],
    }
