"""Routes of what the agent keeps: its memory and its database."""
