"""Provider adapters behind one port."""
