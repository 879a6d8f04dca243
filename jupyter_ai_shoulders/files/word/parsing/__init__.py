"""The parts, paragraphs and styles of a Word document."""
