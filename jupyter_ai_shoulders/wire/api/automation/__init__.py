"""Wire types of schedules, watchers and notifications."""
