"""What surrounds a conversation: workspace facts, attachments, instructions and skills."""
