"""Word documents (``.docx``): their paragraphs, and changes of them as tracked changes."""
