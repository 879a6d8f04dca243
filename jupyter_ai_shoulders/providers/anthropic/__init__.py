"""Adapter for Anthropic Messages, see docs/design/providers.md#anthropic-messages."""
