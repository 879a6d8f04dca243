"""Settings of the engine as plain values; made by ``host`` from traits and files."""

from __future__ import annotations

from dataclasses import dataclass

from jupyter_ai_shoulders.core.summaries import CompactionMode


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Settings of the loop for all sessions."""

    workspace: str = ""
    """The workspace root as shown to the model; tools use paths relative to it."""
    step_limit: int = 25
    nudges: bool = True
    """Whether the model gets a hint when it repeats a read, digresses or gives an empty answer."""
    document_step_limit: int = 8
    """Step limit of the small ``document`` toolset."""
    sub_agent_step_limit: int = 15
    """Step limit of sub-agents, where ``step_limit`` is not lower."""
    sub_agent_time_limit_s: float = 1_200.0
    """Working time of a sub-agent's turn, where ``turn_time_limit_s`` is not lower."""
    model_attempts: int = 5
    """Attempts of one model call that fails before any output was shown."""
    delta_interval_s: float = 0.050
    """Interval for coalescing text after the first delta of a part."""
    settle_timeout_s: float = 3.0
    """Time a cancelled tool call gets to settle its effect."""
    stop_timeout_s: float = 4.0
    """Time ``Engine.stop`` waits for running turns; a hub kills after five seconds."""
    storage_retry_s: float = 2.0
    """Delay before retrying a session whose log could not be written."""
    turn_time_limit_s: float | None = None
    """Maximum working time of a turn in seconds, without waiting for the user."""
    compaction: CompactionMode = "auto"
    """The reaction to a conversation that outgrows its model."""
    compaction_time_limit_s: float = 90.0
    """Time limit of a model for a summary; after it a summary is made without a model."""
    run_wait_s: float | None = 60.0
    """Time a step waits for a running cell before the turn continues beside it; None: without
    limit.
    """
    allow_bypass: bool = True
    """Whether the mode ``bypass`` may be chosen."""
    cached_sessions: int = 64
    """Number of idle sessions whose state is kept in memory."""
