"""OpenAI Chat Completions as a caller's format."""
