"""Records measurements in Prometheus' metrics. Made by ``host.metrics.service``."""

from __future__ import annotations

from jupyter_ai_shoulders.core.budget.limits import CallSettlement, PlannedCall
from jupyter_ai_shoulders.host.metrics import definitions as metrics
from jupyter_ai_shoulders.host.metrics.instruments import Instruments
from jupyter_ai_shoulders.host.metrics.labels import OTHER, UNKNOWN, Labels
from jupyter_ai_shoulders.host.metrics.measurements import (
    ApprovalAnswered,
    ApprovalRequested,
    FirstOutput,
    Measurement,
    RetryScheduled,
    StepBegan,
    ToolEnded,
    TurnCost,
    TurnEnded,
)

_RAN = frozenset({"ok", "error"})
_USD = 1_000_000


class EventMetrics:
    """A ``MeasurementSink``, and the observer of booked model calls."""

    def __init__(self, instruments: Instruments, labels: Labels, *, by_user: bool) -> None:
        """``by_user``: whether users are named."""
        self._instruments = instruments
        self._labels = labels
        self._by_user = by_user

    def record(self, measured: Measurement) -> None:
        """Record a measurement."""
        count, observe = self._instruments.count, self._instruments.observe
        match measured:
            case StepBegan(turn=turn):
                count(metrics.STEPS, turn.source or OTHER)
            case FirstOutput(turn=turn, seconds=seconds):
                observe(
                    metrics.FIRST_OUTPUT, seconds, *self._labels.model(turn.provider, turn.model)
                )
            case RetryScheduled(turn=turn, reason=reason):
                provider, _ = self._labels.model(turn.provider, turn.model)
                count(metrics.RETRIES, provider, reason or UNKNOWN)
            case ToolEnded():
                self._tool(measured)
            case ApprovalRequested(kind=kind):
                count(metrics.APPROVALS_REQUESTED, kind)
            case ApprovalAnswered(decision=decision, by=by, waited=waited):
                count(metrics.APPROVALS_ANSWERED, decision, by)
                if waited is not None:
                    observe(metrics.APPROVAL_WAIT, waited, decision)
            case TurnEnded():
                self._turn(measured)
            case TurnCost(turn=turn, micro_usd=cost) if self._by_user:
                user = self._labels.user(turn.owner)
                count(metrics.USER_COST, user, amount=cost / _USD)
            case _:
                pass

    def settled(self, planned: PlannedCall, outcome: CallSettlement) -> None:
        """Record a booked model call, of any purpose."""
        count = self._instruments.count
        usage, model = outcome.usage, self._labels.model(planned.provider, planned.model)
        result = "ok" if outcome.ok else "error"
        count(metrics.MODEL_CALLS, *model, planned.account.purpose, result)
        self._instruments.observe(metrics.MODEL_SECONDS, outcome.duration_ms / 1000, *model)
        count(metrics.TOKENS, *model, "input", amount=usage.input_tokens)
        count(metrics.TOKENS, *model, "output", amount=usage.output_tokens)
        count(metrics.CACHED_TOKENS, *model, "read", amount=usage.cache_read_tokens)
        count(metrics.CACHED_TOKENS, *model, "write", amount=usage.cache_write_tokens)
        if outcome.cost_micro_usd is None:
            count(metrics.UNPRICED, *model)
        else:
            count(metrics.COST, *model, amount=outcome.cost_micro_usd / _USD)

    def committed(self, seconds: float) -> None:
        """Record a commit of the log."""
        self._instruments.observe(metrics.LOG_COMMIT, seconds)

    def synced(self, seconds: float) -> None:
        """Record a sync of the log."""
        self._instruments.observe(metrics.LOG_SYNC, seconds)

    def _tool(self, ended: ToolEnded) -> None:
        tool = self._labels.tool(ended.tool)
        self._instruments.count(metrics.TOOL_CALLS, tool, ended.status)
        if ended.status in _RAN:
            self._instruments.observe(metrics.TOOL_DURATION, ended.seconds, tool)

    def _turn(self, ended: TurnEnded) -> None:
        self._instruments.count(metrics.TURNS, ended.turn.source or OTHER, ended.exit)
        if ended.error is not None:
            self._instruments.count(metrics.TURN_ERRORS, ended.error)
        if self._by_user:
            user = self._labels.user(ended.turn.owner)
            self._instruments.count(metrics.USER_TURNS, user, ended.exit)
