"""Single model calls outside the engine's loop: titles, summaries, suggestions."""
