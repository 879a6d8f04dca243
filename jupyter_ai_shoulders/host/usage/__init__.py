"""Usage and budgets of each user."""
