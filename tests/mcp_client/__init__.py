"""Tests of ``jupyter_ai_shoulders.mcp_client``."""
