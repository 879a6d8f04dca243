"""Text files that are open in browser pages: which pages have them, and reads and edits there."""
