"""Changes an agent suggests; the user applies or dismisses them."""
