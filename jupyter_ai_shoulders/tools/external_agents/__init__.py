"""Tools that carry out what agents of others request; language models are never offered them."""
