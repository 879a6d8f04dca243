"""The Anthropic Messages format, as reference §1 describes it."""
