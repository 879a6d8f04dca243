"""Review of the agent's edits: pending edits, keeping and undoing them."""
