"""Adapter for Google Gemini, ``generateContent``, see docs/design/providers.md#google-gemini."""
