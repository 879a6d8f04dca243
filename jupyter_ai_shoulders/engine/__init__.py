"""The agent loop: pure state machine, driver, context."""
