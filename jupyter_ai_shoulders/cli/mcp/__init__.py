"""``jupyter shoulders mcp``: our MCP server over pipes, and entries for clients."""
