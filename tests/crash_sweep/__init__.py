"""Kills the product at every crash point of scripted turns: ``python -m tests.crash_sweep``."""
