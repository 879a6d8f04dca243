"""Adapter for OpenAI Responses, stateless, see docs/design/providers.md#openai-responses."""
