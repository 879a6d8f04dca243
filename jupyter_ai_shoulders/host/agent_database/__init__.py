"""The agent's database: its settings, changes, undo and export."""
