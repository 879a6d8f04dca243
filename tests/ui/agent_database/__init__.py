"""Browser tests of the agent's database."""
