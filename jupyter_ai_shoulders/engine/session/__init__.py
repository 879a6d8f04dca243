"""Drives live sessions: cache, effects, recovery, user responses, message edits and restores."""
