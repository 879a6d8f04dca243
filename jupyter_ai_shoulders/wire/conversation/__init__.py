"""The conversation as shown to a reader: view models, and the reducer that builds them."""
