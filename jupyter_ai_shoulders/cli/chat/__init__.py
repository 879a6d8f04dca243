"""``jupyter shoulders chat``: a conversation in a terminal."""
