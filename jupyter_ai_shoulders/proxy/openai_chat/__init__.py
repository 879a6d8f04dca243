"""OpenAI Chat Completions as a caller speaks it (reference §3)."""
