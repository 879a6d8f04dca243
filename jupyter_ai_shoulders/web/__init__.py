"""The web for tools: pages, search, papers. Reaches it through ``guard.network`` only."""
