"""The git tools: status, diff and commit."""
