"""Agents and clients of others as seen by the engine: ids, models and connections."""
