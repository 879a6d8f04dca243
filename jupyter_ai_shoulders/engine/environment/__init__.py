"""The environment of a conversation: workspace facts, attachments, instructions and skills."""
