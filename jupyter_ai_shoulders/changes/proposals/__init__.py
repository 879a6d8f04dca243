"""Changes that an agent proposes and the user applies or dismisses."""
