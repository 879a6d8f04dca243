"""The cases, one module per subject; ``catalogue`` lists them."""
