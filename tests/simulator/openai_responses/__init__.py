"""The OpenAI Responses format."""
