"""OpenAI Responses, stateless: nothing is stored there, reasoning comes back encrypted (§2)."""
