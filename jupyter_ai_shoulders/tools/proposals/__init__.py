"""The tools that propose a change and leave it to the user."""
