"""OpenAI Responses as a caller speaks it (reference §2)."""
