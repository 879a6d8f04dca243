"""The protocol: pydantic models of everything that crosses the socket, the log or the disk."""
