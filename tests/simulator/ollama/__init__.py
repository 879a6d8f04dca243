"""Ollama's own format."""
