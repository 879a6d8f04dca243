"""The OpenAI Chat Completions format, OpenAI's own and compatible servers'."""
