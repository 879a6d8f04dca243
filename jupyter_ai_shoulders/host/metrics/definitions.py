"""The metrics: names, labels, buckets and help texts. ``docs/metrics.md`` is tested against them.

Names follow Prometheus' conventions: base units, ``_total`` for counters. Read by
``host.metrics.instruments``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PREFIX = "shoulders_"

ANSWER_SECONDS = (0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60, 120)
"""First outputs: 0.1 s is a local model, 8 s one that thinks, 60 s one that is being loaded."""
CALL_SECONDS = (0.5, 1, 2, 4, 8, 15, 30, 60, 120, 300, 600)
"""Whole answers, up to the longest a provider streams."""
TOOL_SECONDS = (0.005, 0.02, 0.1, 0.5, 1, 5, 15, 60, 300, 1800)
"""Reads of a cell take 5 ms, cell runs and commands from a second to hours."""
WAIT_SECONDS = (1, 3, 10, 30, 60, 300, 1800, 7200, 43_200)
"""Answers of people: at once, within a coffee, the next morning."""
DISK_SECONDS = (0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.2, 1, 5)
"""A commit takes 0.1 ms, a sync what the disk needs (0.1 to 8 ms); 5 s is a disk that hangs."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric."""

    kind: Literal["counter", "histogram", "gauge"]
    name: str
    """As exposed, with the suffix."""
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


MODEL = ("provider", "model")
TURNS = Metric("counter", "shoulders_turns_total", "Turns that ended.", ("source", "exit"))
TURN_ERRORS = Metric(
    "counter", "shoulders_turn_errors_total", "Turns that ended with an error.", ("code",)
)
STEPS = Metric("counter", "shoulders_steps_total", "Steps of turns that began.", ("source",))
FIRST_OUTPUT = Metric(
    "histogram",
    "shoulders_first_output_seconds",
    "Time from the begin of a step to its first text, reasoning or tool call, retries included.",
    MODEL,
    ANSWER_SECONDS,
)
MODEL_CALLS = Metric(
    "counter",
    "shoulders_model_calls_total",
    "Model calls that were answered or failed, for any purpose.",
    (*MODEL, "purpose", "outcome"),
)
MODEL_SECONDS = Metric(
    "histogram", "shoulders_model_call_seconds", "Duration of model calls.", MODEL, CALL_SECONDS
)
TOKENS = Metric(
    "counter",
    "shoulders_model_tokens_total",
    "Tokens of model calls: input includes cached ones, output includes reasoning.",
    (*MODEL, "direction"),
)
CACHED_TOKENS = Metric(
    "counter",
    "shoulders_model_cached_tokens_total",
    "Input tokens read from or written to the provider's cache.",
    (*MODEL, "access"),
)
COST = Metric(
    "counter", "shoulders_model_cost_usd_total", "Known cost of model calls in US dollars.", MODEL
)
UNPRICED = Metric(
    "counter",
    "shoulders_model_calls_unpriced_total",
    "Model calls whose cost is unknown, which the cost leaves out.",
    MODEL,
)
RETRIES = Metric(
    "counter", "shoulders_retries_total", "Repeated model calls of turns.", ("provider", "reason")
)
TOOL_CALLS = Metric(
    "counter",
    "shoulders_tool_calls_total",
    "Tool calls with their final result; one in the background counts when it ends.",
    ("tool", "status"),
)
TOOL_DURATION = Metric(
    "histogram",
    "shoulders_tool_call_seconds",
    "Duration of tool calls that ran.",
    ("tool",),
    TOOL_SECONDS,
)
APPROVALS_REQUESTED = Metric(
    "counter",
    "shoulders_approvals_requested_total",
    "Approvals requested from the user.",
    ("reason",),
)
APPROVALS_ANSWERED = Metric(
    "counter",
    "shoulders_approvals_answered_total",
    "Decisions about tool calls, by the user or a rule.",
    ("decision", "by"),
)
APPROVAL_WAIT = Metric(
    "histogram",
    "shoulders_approval_wait_seconds",
    "Time until an approval was answered.",
    ("decision",),
    WAIT_SECONDS,
)
LOG_COMMIT = Metric(
    "histogram",
    "shoulders_log_commit_seconds",
    "Time to commit an event; streamed text is not measured.",
    (),
    DISK_SECONDS,
)
LOG_SYNC = Metric(
    "histogram", "shoulders_log_sync_seconds", "Time to sync the log to disk.", (), DISK_SECONDS
)
RUNNING_TURNS = Metric("gauge", "shoulders_running_turns", "Conversations whose turn works.")
WAITING_TURNS = Metric(
    "gauge", "shoulders_waiting_turns", "Conversations that wait for their user."
)
RUNNING_CELLS = Metric(
    "gauge", "shoulders_running_cells", "Calls of the agent that run code in a kernel."
)
QUEUED_MESSAGES = Metric(
    "gauge",
    "shoulders_queued_messages",
    "Messages of this process's life that wait for the running turn.",
)
INDEX_FILES = Metric("gauge", "shoulders_search_index_files", "Files in the search index.")
INDEX_STALE = Metric(
    "gauge",
    "shoulders_search_index_stale_documents",
    "Files and conversations that changed and are not indexed yet.",
)
INDEX_STATE = Metric(
    "gauge", "shoulders_search_index_state", "1 for the state the index is in.", ("state",)
)
USER_TURNS = Metric(
    "counter",
    "shoulders_user_turns_total",
    "Turns that ended, by user; only with Shoulders.metrics_users.",
    ("user", "exit"),
)
USER_COST = Metric(
    "counter",
    "shoulders_user_cost_usd_total",
    "Known cost of turns in US dollars, by user; only with Shoulders.metrics_users.",
    ("user",),
)

METRICS = (
    TURNS,
    TURN_ERRORS,
    STEPS,
    FIRST_OUTPUT,
    MODEL_CALLS,
    MODEL_SECONDS,
    TOKENS,
    CACHED_TOKENS,
    COST,
    UNPRICED,
    RETRIES,
    TOOL_CALLS,
    TOOL_DURATION,
    APPROVALS_REQUESTED,
    APPROVALS_ANSWERED,
    APPROVAL_WAIT,
    LOG_COMMIT,
    LOG_SYNC,
)
USER_METRICS = (USER_TURNS, USER_COST)
GAUGES = (
    RUNNING_TURNS,
    WAITING_TURNS,
    RUNNING_CELLS,
    QUEUED_MESSAGES,
    INDEX_FILES,
    INDEX_STALE,
    INDEX_STATE,
)
"""Read when they are scraped."""
