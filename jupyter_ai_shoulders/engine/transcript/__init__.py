"""The conversation as messages for a provider, rebuilt from the session log."""
