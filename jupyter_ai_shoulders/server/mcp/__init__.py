"""The route of the MCP server: authentication, and a bridge from tornado to the SDK's ASGI."""
