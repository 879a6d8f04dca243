"""Wires search in the workspace to documents and the state directory."""
