"""Tests of the tools of the agent for itself."""
