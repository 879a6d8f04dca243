"""Services for tools: command execution, and packages with tools."""
