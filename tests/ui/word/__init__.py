"""Browser tests of the pages of Word documents."""
