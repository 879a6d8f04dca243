"""OpenAI Responses as a caller's format."""
