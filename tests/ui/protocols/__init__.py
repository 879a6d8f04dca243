"""Programs of others in the browser: MCP servers, MCP clients, agents."""
