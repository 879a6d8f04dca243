"""Creating, changing, forking and reading conversations, apart from their turns."""
