"""Settings of the engine as plain values; made by ``host`` from traits and files."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.core.summaries import CompactionMode


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """What the loop is told once, for all sessions (chapter 04, policy values)."""

    workspace: str = ""
    """The workspace root as the model is told of it; tools use paths relative to it."""
    step_limit: int = 25
    nudges: bool = True
    """Whether the model is told when it reads twice, wanders or answers with nothing."""
    document_step_limit: int = 8
    """Step limit of the small ``document`` toolset."""
    model_attempts: int = 5
    """Tries of one model call that fails before anything was shown."""
    delta_interval_s: float = 0.012
    """Text after the first delta of a part is coalesced for this long (chapter 14)."""
    settle_timeout_s: float = 3.0
    """How long a cancelled tool call may take to settle its effect before it is given up."""
    stop_timeout_s: float = 4.0
    """How long ``Engine.stop`` waits for running turns; a hub kills after five seconds."""
    storage_retry_s: float = 2.0
    """How long until a session is tried again whose log could not be written."""
    turn_time_limit_s: float | None = None
    """How long a turn may work, in seconds; waiting for the user does not count."""
    compaction: CompactionMode = "auto"
    """What happens when a conversation outgrows its model."""
    compaction_time_limit_s: float = 90.0
    """How long a model may take for a summary, before one is made without it."""
    run_patience_s: float | None = 60.0
    """How long a step waits for a cell that runs; then the turn goes on beside it. None: always."""
    allow_bypass: bool = True
    """Whether the mode ``bypass`` may be chosen."""
    kept_sessions: int = 64
    """Idle sessions kept folded in memory."""
