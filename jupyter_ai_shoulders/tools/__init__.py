"""Tools the agent can call, their registry and permission rules."""
