"""The OpenAI Responses format, as reference §2 describes it."""
