"""The cases, one file per subject; ``catalogue`` lists them."""
