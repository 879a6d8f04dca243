"""One module per group of event models; ``wire.events`` unites them."""
