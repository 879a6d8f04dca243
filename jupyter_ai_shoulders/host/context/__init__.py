"""Workspace content of requests: environment, instructions, skills, attachments and mentions."""
