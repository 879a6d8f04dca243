"""Bibliographies: BibTeX files edited by text span, registers of works, citations and checks."""
