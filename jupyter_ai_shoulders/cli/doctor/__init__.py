"""``jupyter shoulders doctor``: looks at an installation and says what to do."""
