"""The Anthropic Messages format."""
