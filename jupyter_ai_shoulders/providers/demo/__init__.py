"""The demo provider: rules, no model; for a first start and tests without any key (chapter 03)."""
