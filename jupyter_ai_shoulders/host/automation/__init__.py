"""Schedules, watchers and notifications."""
