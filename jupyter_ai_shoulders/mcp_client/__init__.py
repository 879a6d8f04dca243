"""Connections to MCP servers: configuration, transports, and what the servers offer."""
