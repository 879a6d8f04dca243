"""The MCP servers of a host: settings, trust, life cycle and tools."""
