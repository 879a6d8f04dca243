"""A home, a workspace and the registry of models on them, for the tests of the registry."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_ai_shoulders.core.clock import RandomIds
from jupyter_ai_shoulders.core.model_preferences import ModelPreferences
from jupyter_ai_shoulders.providers.registry import ModelRegistry
from jupyter_ai_shoulders.providers.registry_builder import RegistryOptions, build_registry
from jupyter_ai_shoulders.wire.ids import ModelId, ProviderId
from tests.providers.adapter_fixtures import FakeClock
from tests.simulator import Simulator

ANTHROPIC = ProviderId("anthropic")
KEY = "sk-ant-api03-" + "k" * 20


@dataclass
class RegistryWorkspace:
    """A home, a workspace, and the registry on them."""

    home: Path
    state: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])
    clock: FakeClock = field(default_factory=FakeClock)
    last_used: ModelId | None = None
    preferences: ModelPreferences = field(default_factory=ModelPreferences)

    def registry(self, trait: dict[str, Any] | None = None, **options: Any) -> ModelRegistry:
        return build_registry(
            self.home,
            self.state,
            self.clock,
            RandomIds(),
            RegistryOptions(
                environ=self.environ,
                trait=trait,
                last_used=lambda: self.last_used,
                preferences=lambda: self.preferences,
                **options,
            ),
        )

    def configure(self, content: Any, *, user: bool = False) -> None:
        path = (self.home / ".shoulders" if user else self.state) / "models.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))

    @asynccontextmanager
    async def on(self, simulator: Simulator) -> AsyncGenerator[ModelRegistry]:
        """The registry with Anthropic pointed at the simulator, and a key."""
        self.environ["ANTHROPIC_API_KEY"] = simulator.key
        self.configure({"providers": {"anthropic": {"url": simulator.url}}})
        registry = self.registry()
        try:
            yield registry
        finally:
            await registry.aclose()


LAB: dict[str, Any] = {
    "providers": {"lab": {"kind": "openai_chat", "url": "http://lab.test/v1"}},
    "models": [{"id": "tiny", "provider": "lab"}],
}
