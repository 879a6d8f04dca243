"""The agent's own SQLite database: a worker process that runs its statements, and its callers."""
