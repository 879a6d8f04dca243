"""Routes of schedules and watchers."""
