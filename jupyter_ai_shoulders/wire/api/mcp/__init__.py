"""Requests and answers about MCP servers."""
