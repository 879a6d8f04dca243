"""The conversations of programs that call our tools over MCP."""
