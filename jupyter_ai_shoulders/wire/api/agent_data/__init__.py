"""Messages about what the agent keeps: its memory and its database."""
