"""Runs model calls and tool calls: approval checks, batches, execution and background tasks."""
