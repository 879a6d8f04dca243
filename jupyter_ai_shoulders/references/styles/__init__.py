"""Citations and bibliographies in the styles of the Citation Style Language (CSL)."""
