"""Sub-agents: conversations that work for a call of another one."""
