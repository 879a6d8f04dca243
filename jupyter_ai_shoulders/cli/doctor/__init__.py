"""``jupyter shoulders doctor``: checks an installation and advises."""
