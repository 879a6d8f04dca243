"""Tests of the routes of what the agent keeps."""
