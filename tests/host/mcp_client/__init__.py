"""MCP servers in a host."""
