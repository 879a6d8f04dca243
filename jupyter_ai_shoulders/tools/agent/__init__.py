"""Tools for what lasts beyond a conversation."""
