"""Single calls outside the loop: titles, suggestions, help with references (chapter 03)."""
