"""A Word document as an outline for a model, and as a page."""
