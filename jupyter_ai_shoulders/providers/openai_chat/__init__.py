"""Adapter for OpenAI Chat Completions, see docs/design/providers.md#chat-completions."""
