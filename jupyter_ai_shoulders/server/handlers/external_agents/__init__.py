"""Routes of agents of others (ACP)."""
