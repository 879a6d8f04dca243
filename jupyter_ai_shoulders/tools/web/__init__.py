"""Tools that read the web: pages, search, papers."""
