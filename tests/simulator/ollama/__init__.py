"""Ollama's own format (reference §5)."""
