"""Search of papers: OpenAlex, else Exa, else Crossref."""
