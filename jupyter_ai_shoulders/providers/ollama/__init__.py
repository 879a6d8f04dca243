"""Adapter for Ollama's own format, see docs/design/providers.md#ollama."""
