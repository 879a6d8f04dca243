"""Ports the engine needs beside those of ``storage``, ``tools`` and ``providers``."""

from __future__ import annotations

from typing import Protocol

from jupyter_ai_shoulders.core.spending import LimitScope, Standing
from jupyter_ai_shoulders.providers.base import ResolvedModel
from jupyter_ai_shoulders.wire.ids import ModelId, SessionId, TurnId

__all__ = ["Budgets", "Models", "ResolvedModel"]


class Models(Protocol):
    """Finds models by id; implemented by ``providers.registry``."""

    def resolve(self, model_id: ModelId | None) -> ResolvedModel:
        """Return the model, or the default for None; makes no network call.

        Raises ``ShouldersError`` with code ``no_model``, ``unknown_model`` or ``no_key``.
        """
        ...


class Budgets(Protocol):
    """How the budget stands, and the limits a user may raise; implemented over the ledger."""

    def standing(self) -> Standing:
        """Return the month's spending and limit; makes no call and reads no file."""
        ...

    def raise_limit(
        self, scope: LimitScope, micro_usd: int, session_id: SessionId, turn_id: TurnId
    ) -> None:
        """Raise the limit of this session or turn to so many micro-dollars.

        Raises ``PolicyRefusal``: the administrator's limit is lower, or the scope is not the
        user's to raise here.
        """
        ...
