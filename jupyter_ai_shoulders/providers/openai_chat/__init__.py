"""OpenAI Chat Completions as compatible servers speak it (reference §3)."""
