"""Models of the frames of the page socket; ``wire.frames`` unites them."""
