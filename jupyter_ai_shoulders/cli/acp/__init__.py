"""``jupyter shoulders acp``: our agent in editors, over the Agent Client Protocol (ACP)."""
