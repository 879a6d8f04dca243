"""The embedding routes of OpenAI, Google and Ollama."""
