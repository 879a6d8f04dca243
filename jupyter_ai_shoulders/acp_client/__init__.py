"""Connections to agents of others over the Agent Client Protocol (ACP)."""
